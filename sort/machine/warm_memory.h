// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps memory in use between timed pieces of work, so that a virtual machine does not return it to its host.
//
// With free page reporting, a virtual machine reports its free pages to the host, which reclaims them. The first access
// to a reclaimed page takes ten times as long as to another free page (1.4 s instead of 0.12 s a GB). Linux sends a
// report two seconds after the first large page was freed since the last report (PAGE_REPORTING_DELAY in
// mm/page_reporting.c), of all pages that are free at that moment. So memory that was touched before the work must be
// in use at that moment: kept here, or used by the work.
#pragma once

#include <cstdint>
#include <limits>

#include "io/buffer.h"
#include "sort/machine/control_group.h"

namespace hetsort::sort {

/// Whether Linux reports free pages to a host. Thread safety: any thread.
bool reports_free_pages(const KernelFiles& files = {});

/// The pages of one process. Several processes of a machine may do this at the same time, as ranks that sort together
/// do. Times are on any one clock.
class WarmMemory {
 public:
  /// `reported`: reports_free_pages(). If false, nothing waits.
  explicit WarmMemory(bool reported) : reported_(reported) {}

  /// Touches `bytes` and keeps them in use. Throws: std::bad_alloc.
  void keep(std::uint64_t bytes);
  /// How long to keep them from `now` on, so that work of `work_seconds` finds none of them reclaimed.
  double wait_seconds(double now, double work_seconds) const;
  /// Frees them for the work.
  void release(double now);
  /// Notes that the work has ended and has freed its memory.
  void work_ended(double now) { freed(now); }

 private:
  void freed(double now);

  bool reported_;
  io::Buffer kept_;
  double report_at_ = -std::numeric_limits<double>::infinity();  // latest time of the next report
};

}  // namespace hetsort::sort
