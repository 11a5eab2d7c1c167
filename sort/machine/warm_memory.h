// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that is in the machine when timed work asks for it, and not with its host.
//
// A virtual machine may tell its host which of its pages are free ("free page reporting"), and the host takes them. To
// touch such a page for the first time takes ten times as long as to touch another: 1.4 s a GB were seen where others
// took 0.12. Linux tells of them two seconds after the first large page was freed since it last told
// (PAGE_REPORTING_DELAY in mm/page_reporting.c), of all that are free at that moment. So memory that was touched before
// the work must stay in use over that moment, or be in use again by the work.
#pragma once

#include <cstdint>
#include <limits>

#include "io/buffer.h"
#include "sort/machine/control_group.h"

namespace hetsort::sort {

/// Whether Linux tells a host which pages are free. Thread safety: any thread.
bool reports_free_pages(const KernelFiles& files = {});

/// What one process knows of its own pages; other processes on its machine that do the same at the same time, as ranks
/// that sort together, are no trouble. Times are on any one clock.
class WarmMemory {
 public:
  /// `reported`: reports_free_pages(). Else nothing waits.
  explicit WarmMemory(bool reported) : reported_(reported) {}

  /// Touches so many bytes and keeps them in use. Throws: std::bad_alloc.
  void keep(std::uint64_t bytes);
  /// For how long to keep them, at `now`, so that work of `work_seconds` finds them all.
  double wait_seconds(double now, double work_seconds) const;
  /// They are free for the work.
  void release(double now);
  /// The work has ended, and what it used is free as well.
  void work_ended(double now) { freed(now); }

 private:
  void freed(double now);

  bool reported_;
  io::Buffer kept_;
  double report_at_ = -std::numeric_limits<double>::infinity();  // when Linux tells of what is free then, at the latest
};

}  // namespace hetsort::sort
