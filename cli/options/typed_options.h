// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Typed values of Boost.Program_options: an option's text is parsed once, where the option is declared, and --help
// shows the default from the same place.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.h"

namespace hetsort::cli {

/// The words that an option accepts, if it accepts no others; otherwise none.
class KnownWords {
 public:
  const std::vector<std::string>& known_words() const { return words_; }

 protected:
  std::vector<std::string> words_;
};

template <class T>
class OptionValue final : public boost::program_options::value_semantic_codecvt_helper<char>, public KnownWords {
 public:
  using Parse = std::function<T(const std::string& text)>;
  OptionValue(std::string name, Parse parse) : name_(std::move(name)), parse_(std::move(parse)) {}

  /// The value of an option that is not given, and how --help shows it.
  OptionValue* default_value(T value, const std::string& shown) {
    default_ = std::move(value);
    name_ += " (=" + shown + ")";
    return this;
  }

  OptionValue* known_words(const std::vector<std::string>& words) {
    words_ = words;
    return this;
  }

  std::string name() const override { return name_; }
  unsigned min_tokens() const override { return 1; }
  unsigned max_tokens() const override { return 1; }
  bool is_composing() const override { return false; }
  bool is_required() const override { return false; }
  bool apply_default(boost::any& value) const override {
    if (default_) value = *default_;
    return default_.has_value();
  }
  void notify(const boost::any& /*value*/) const override {}

 private:
  void xparse(boost::any& value, const std::vector<std::string>& words) const override {
    value = parse_(boost::program_options::validators::get_single_string(words));
  }

  std::string name_;
  Parse parse_;
  std::optional<T> default_;
};

/// A value that `parse` makes of the text; it throws UsageError for one that it cannot take. `name` stands for the
/// value in --help. Boost owns the result.
template <class T>
OptionValue<T>* parsed(const char* name, typename OptionValue<T>::Parse parse) {
  return new OptionValue<T>(name, std::move(parse));
}

/// One of several words. `option` names the option in the message for any other word.
template <class T>
OptionValue<T>* choice(const char* name, const std::string& option, std::vector<std::pair<std::string, T>> words) {
  std::vector<std::string> known;
  known.reserve(words.size());
  for (const auto& word : words) known.push_back(word.first);
  const auto parse = [option, known, words = std::move(words)](const std::string& text) {
    for (const auto& [word, value] : words)
      if (word == text) return value;
    throw UsageError(fmt::format("{} '{}' is none of {}", option, text, fmt::join(known, ", ")));
  };
  return parsed<T>(name, parse)->known_words(std::move(known));
}

/// A whole number from `min` to `max`.
OptionValue<std::uint64_t>* count(const char* name, const std::string& option, std::uint64_t min, std::uint64_t max);
/// A number of seconds from `min` to `max`.
OptionValue<double>* seconds(const char* name, const std::string& option, double min, double max);
/// The path of a file that rank 0 alone reads or writes, see one_file(); with `stream` also "-".
OptionValue<std::string>* path_of_one_file(const char* name, const std::string& option, bool stream = false);
inline boost::program_options::typed_value<std::string>* text(const char* name) {
  return boost::program_options::value<std::string>()->value_name(name);
}

/// The value of an option that has one: given, or its default.
template <class T>
const T& value_of(const boost::program_options::variables_map& values, const char* option) {
  return values[option].as<T>();
}
/// The value of an option that may be missing.
template <class T>
std::optional<T> optional_value(const boost::program_options::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return values[option].as<T>();
}

}  // namespace hetsort::cli
