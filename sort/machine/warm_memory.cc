// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/warm_memory.h"

#include <charconv>
#include <cstddef>
#include <string>

namespace hetsort::sort {

namespace {

// Linux's own.
constexpr double kDelaySeconds = 2;
// What the host takes to take them.
constexpr double kTakingSeconds = 0.3;

}  // namespace

bool reports_free_pages(const KernelFiles& files) {
  // Free blocks of 2 to the power of this in pages of 4 KiB are told of; while nobody listens it is above the largest
  // that there are. Kernels before 5.14 do not show it.
  constexpr unsigned kLargestOrder = 10;
  const std::string path = files.mounts_below + "/sys/module/page_reporting/parameters/page_reporting_order";
  const std::string text = read_small_file(path).value_or("");
  unsigned order = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), order);
  return error == std::errc{} && order <= kLargestOrder;
}

void WarmMemory::keep(std::uint64_t bytes) {
  kept_ = io::Buffer(bytes);
  for (std::size_t at = 0; at < kept_.size_bytes(); at += io::Buffer::kAlignmentBytes)
    static_cast<volatile std::byte*>(kept_.data())[at] = std::byte{1};
}

double WarmMemory::wait_seconds(double now, double work_seconds) const {
  const double told = report_at_ + kTakingSeconds;
  if (!reported_ || now >= told || now + work_seconds <= report_at_) return 0;
  return told - now;
}

void WarmMemory::release(double now) {
  kept_ = io::Buffer();
  freed(now);
}

void WarmMemory::freed(double now) {
  if (now > report_at_) report_at_ = now + kDelaySeconds;
}

}  // namespace hetsort::sort
