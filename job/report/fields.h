// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a list of fields is written as JSON and read from it. A list is a function describe(fields, object) that calls
// fields(NAME, MEMBER) for each member, in the order of the file:
//
//   fields(name, member)       always there
//   fields.later(name, member) always written; files of earlier versions may lack it
//   fields.if_any(name, ...)   left out if it is empty
//   fields.or_null(name, ...)  null if it is empty
//   fields.rate(name, ...)     a number of any size, left out if it is empty
//   fields.predicted(phase, .) two members, for the seconds of a phase and what bounds it, left out if there are none
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "job/report/json.h"

namespace hetsort::job {

/// Adds each field to a JSON object.
class WriteFields {
 public:
  explicit WriteFields(nlohmann::ordered_json& json) : json_(json) {}

  template <class T>
  void operator()(const std::string& name, const T& member) {
    json_[name] = json_of(member);
  }
  template <class T>
  void later(const std::string& name, const T& member) {
    json_[name] = json_of(member);
  }
  template <class T>
  void if_any(const std::string& name, const T& member) {
    if (is_any(member)) json_[name] = json_of(member);
  }
  template <class T>
  void or_null(const std::string& name, const T& member) {
    json_[name] = is_any(member) ? json_of(member) : nlohmann::ordered_json(nullptr);
  }
  void rate(const std::string& name, const std::optional<double>& member) { if_any(name, member); }
  template <class Prediction>
  void predicted(const std::string& phase, const std::optional<Prediction>& member) {
    if (!member) return;
    json_["predicted_" + phase + "_seconds"] = member->seconds;
    json_[phase + "_bound"] = member->bound;
  }

 private:
  static nlohmann::ordered_json json_of(const std::string& text) { return text; }
  static nlohmann::ordered_json json_of(std::uint64_t count) { return count; }
  static nlohmann::ordered_json json_of(double number) { return number; }
  static nlohmann::ordered_json json_of(bool flag) { return flag; }
  template <class T>
  static nlohmann::ordered_json json_of(const std::optional<T>& member) {
    return json_of(*member);
  }
  template <class T>
  static nlohmann::ordered_json json_of(const std::vector<T>& members) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const T& member : members) list.push_back(json_of(member));
    return list;
  }
  template <class T>
  static nlohmann::ordered_json json_of(const T& object) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    WriteFields fields(json);
    describe(fields, object);
    return json;
  }

  template <class T>
  static bool is_any(const std::optional<T>& member) {
    return member.has_value();
  }
  template <class T>
  static bool is_any(const T& member) {
    return !member.empty();
  }

  nlohmann::ordered_json& json_;
};

/// An overload can refuse an object that was read. Throws: ReportError.
template <class T>
void check_read(const Place& /*place*/, const T& /*object*/) {}

/// Sets each member from a JSON object. Its members throw ReportError.
class ReadFields {
 public:
  explicit ReadFields(const Place& place) : place_(place) {}

  template <class T>
  void operator()(const std::string& name, T& member) {
    read(place_.at(name), member);
  }
  template <class T>
  void later(const std::string& name, T& member) {
    if (place_.has(name)) read(place_.at(name), member);
  }
  template <class T>
  void if_any(const std::string& name, T& member) {
    later(name, member);
  }
  template <class T>
  void or_null(const std::string& name, T& member) {
    later(name, member);
  }
  void rate(const std::string& name, std::optional<double>& member) {
    if (place_.has(name)) member = place_.at(name).number();
  }
  template <class Prediction>
  void predicted(const std::string& phase, std::optional<Prediction>& member) {
    const std::string seconds = "predicted_" + phase + "_seconds";
    if (place_.has(seconds)) member = {place_.at(seconds).seconds(), place_.at(phase + "_bound").text()};
  }

 private:
  static void read(const Place& place, std::string& text) { text = place.text(); }
  static void read(const Place& place, std::uint64_t& count) { count = place.count(); }
  static void read(const Place& place, double& number) { number = place.seconds(); }
  static void read(const Place& place, bool& flag) { flag = place.flag(); }
  template <class T>
  static void read(const Place& place, std::optional<T>& member) {
    T value{};
    read(place, value);
    member = std::move(value);
  }
  template <class T>
  static void read(const Place& place, std::vector<T>& members) {
    for (std::size_t i = 0; i < place.size(); ++i) read(place.at(i), members.emplace_back());
  }
  template <class T>
  static void read(const Place& place, T& object) {
    ReadFields fields(place);
    describe(fields, object);
    check_read(place, object);
  }

  const Place& place_;
};

}  // namespace hetsort::job
