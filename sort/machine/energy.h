// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The energy that a host's processors and memory use, as Intel's RAPL counters show it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace hetsort::sort {

class EnergyMeter {
 public:
  /// Makes a meter that counts from now on. `folder`: where the system shows the counters.
  explicit EnergyMeter(std::string folder = "/sys/class/powercap");

  /// Joules since the start, of all packages and their memory. None if the system shows no counter or this user may not
  /// read them. A counter that overflows twice between two calls is counted once.
  std::optional<double> joules() const;

 private:
  std::string folder_;
  std::map<std::string, std::uint64_t> start_;  // microjoules at the start, by the counter's folder
};

}  // namespace hetsort::sort
