// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/memory_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kKibibyte = 1024;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L)); }

/// The value of a line "NAME:   VALUE kB", in bytes.
std::optional<std::uint64_t> kib_field(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::uint64_t kib = 0;
    if (std::istringstream(line.substr(name.size() + 1)) >> kib) return kib * kKibibyte;
  }
  return std::nullopt;
}

void read_machine(MemoryLimits& limits, const std::string& meminfo) {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  limits.total = kib_field(meminfo, "MemTotal").value_or(pages * page_bytes());
  // Kernels before 3.14 do not show available memory; free memory and the page cache come near.
  const auto free = kib_field(meminfo, "MemFree");
  const std::uint64_t near = free ? *free + kib_field(meminfo, "Cached").value_or(0) : limits.total;
  limits.available = std::min(kib_field(meminfo, "MemAvailable").value_or(near), limits.total);
}

std::optional<std::uint64_t> address_space_left(const std::string& proc) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::uint64_t pages = 0;
  std::istringstream(read_small_file(proc + "/self/statm").value_or("0")) >> pages;
  const std::uint64_t mapped = pages * page_bytes();
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

}  // namespace

std::uint64_t MemoryLimits::physical() const { return std::min(total, control_group.value_or(total)); }

std::uint64_t MemoryLimits::usable() const {
  return std::min({available, control_group.value_or(available), address_space.value_or(available)});
}

std::uint64_t MemoryLimits::reservable() const {
  return std::min(physical(), address_space ? *address_space / 4 * 3 : physical());
}

std::uint64_t MemoryLimits::cacheable_bytes() const {
  return control_group ? *control_group / 4 : std::numeric_limits<std::uint64_t>::max();
}

MemoryLimits read_memory_limits(const KernelFiles& files) {
  MemoryLimits limits;
  read_machine(limits, read_small_file(files.proc + "/meminfo").value_or(""));
  limits.control_group = control_group_memory_limit(files);
  limits.address_space = address_space_left(files.proc);
  return limits;
}

std::uint64_t peak_rss_bytes() {
  if (const auto peak = kib_field(read_small_file("/proc/self/status").value_or(""), "VmHWM")) return *peak;
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * kKibibyte : 0;
}

}  // namespace hetsort::sort
