// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/energy.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace hetsort::sort {

namespace {

template <typename T>
std::optional<T> read_first(const std::string& path) {
  std::ifstream file(path);
  T value{};
  if (!(file >> value)) return std::nullopt;
  return value;
}

/// Packages ("intel-rapl:0") and their memory ("intel-rapl:0:1" of name "dram"), but not the cores, which are a part of
/// their package, nor "psys", which contains the packages.
bool counts(const std::string& folder, const std::string& name) {
  if (!name.starts_with("intel-rapl:")) return false;
  const bool is_part = std::count(name.begin(), name.end(), ':') > 1;
  const std::string what = read_first<std::string>(folder + "/name").value_or("");
  return is_part ? what == "dram" : what.starts_with("package");
}

std::map<std::string, std::uint64_t> read_counters(const std::string& folder) {
  std::map<std::string, std::uint64_t> counters;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (!counts(path, at->path().filename().string())) continue;
    if (const auto energy = read_first<std::uint64_t>(path + "/energy_uj")) counters.emplace(path, *energy);
  }
  return counters;
}

}  // namespace

EnergyMeter::EnergyMeter(std::string folder) : folder_(std::move(folder)), start_(read_counters(folder_)) {}

std::optional<double> EnergyMeter::joules() const {
  constexpr double kMicro = 1e-6;
  const std::map<std::string, std::uint64_t> now = read_counters(folder_);
  if (start_.empty() || now.size() != start_.size()) return std::nullopt;
  double sum = 0;
  for (const auto& [path, begin] : start_) {
    const auto end = now.find(path);
    if (end == now.end()) return std::nullopt;
    std::uint64_t used = end->second - begin;
    if (end->second < begin) used += read_first<std::uint64_t>(path + "/max_energy_range_uj").value_or(0);
    sum += static_cast<double>(used) * kMicro;
  }
  return sum;
}

}  // namespace hetsort::sort
