// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/processor_quota.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <string>

namespace hetsort::sort {

namespace {

constexpr double kMicrosecond = 1e-6;

/// Reads a quota; nullopt for "max", for -1 of version 1, and for text that is no quota.
std::optional<ProcessorQuota> parse_quota(const std::string& quota_and_period) {
  double quota = 0;
  double period = 0;
  if (!(std::istringstream(quota_and_period) >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return ProcessorQuota{quota / period, period * kMicrosecond};
}

std::string text_of(const ControlGroupFolder& folder) {
  if (folder.version == ControlGroup::Version::kTwo) return read_small_file(folder.path + "/cpu.max").value_or("");
  return read_small_file(folder.path + "/cpu.cfs_quota_us").value_or("") + " " +
         read_small_file(folder.path + "/cpu.cfs_period_us").value_or("");
}

}  // namespace

std::optional<ProcessorQuota> read_processor_quota(const KernelFiles& files) {
  std::optional<ProcessorQuota> least;
  for (const ControlGroupFolder& folder : control_group_folders("cpu", files)) {
    const std::optional<ProcessorQuota> quota = parse_quota(text_of(folder));
    if (quota && (!least || quota->processors < least->processors)) least = quota;
  }
  return least;
}

double throttled_seconds(const KernelFiles& files) {
  constexpr double kNanosecond = 1e-9;
  double seconds = 0;
  for (const ControlGroupFolder& folder : control_group_folders("cpu", files)) {
    std::istringstream lines(read_small_file(folder.path + "/cpu.stat").value_or(""));
    std::string name;
    double value = 0;
    while (lines >> name >> value) {
      if (name == "throttled_usec") seconds += value * kMicrosecond;
      if (name == "throttled_time") seconds += value * kNanosecond;
    }
  }
  return seconds;
}

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double stolen_seconds(const KernelFiles& files) {
  constexpr int kColumnsBefore = 7;
  std::istringstream lines(read_small_file(files.proc + "/stat").value_or(""));
  std::string word;
  double ticks = 0;
  double number = 0;
  lines >> word;  // "cpu": the line of all processors
  for (int column = 0; column < kColumnsBefore; ++column) lines >> number;
  if (!(lines >> ticks)) return 0;
  int processors = 0;
  for (std::string line; std::getline(lines, line);) processors += line.starts_with("cpu") ? 1 : 0;
  return ticks / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)) * std::max(1, processors));
}

}  // namespace hetsort::sort
