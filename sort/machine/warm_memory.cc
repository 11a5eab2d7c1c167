// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/warm_memory.h"

#include <charconv>
#include <cstddef>
#include <string>

namespace hetsort::sort {

namespace {

// PAGE_REPORTING_DELAY of Linux.
constexpr double kDelaySeconds = 2;
// Seconds until the hypervisor has reclaimed the pages of a report.
constexpr double kReclaimSeconds = 0.3;

}  // namespace

bool reports_free_pages(const KernelFiles& files) {
  // Linux reports free blocks of 2^order pages of 4 KiB. If no host wants reports, the order is above the largest that
  // there is. Kernels before 5.14 do not show it.
  constexpr unsigned kMaxOrder = 10;
  const std::string path = files.mounts_below + "/sys/module/page_reporting/parameters/page_reporting_order";
  const std::string text = read_small_file(path).value_or("");
  unsigned order = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), order);
  return error == std::errc{} && order <= kMaxOrder;
}

void WarmMemory::keep(std::uint64_t bytes) {
  kept_ = io::Buffer(bytes);
  for (std::size_t at = 0; at < kept_.size_bytes(); at += io::Buffer::kAlignmentBytes)
    static_cast<volatile std::byte*>(kept_.data())[at] = std::byte{1};
}

double WarmMemory::wait_seconds(double now, double work_seconds) const {
  const double reclaimed = report_at_ + kReclaimSeconds;
  if (!reported_ || now >= reclaimed || now + work_seconds <= report_at_) return 0;
  return reclaimed - now;
}

void WarmMemory::release(double now) {
  kept_ = io::Buffer();
  freed(now);
}

void WarmMemory::freed(double now) {
  if (now > report_at_) report_at_ = now + kDelaySeconds;
}

}  // namespace hetsort::sort
