// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/sort_run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <utility>

#include "cli/shared/messages.h"
#include "cli/shared/progress.h"

namespace hetsort::cli {

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

SortRun::SortRun(const SortRequest& request, comm::Communicator& ranks, std::vector<std::string> command_line,
                 sort::Monitor::Clock::time_point start)
    : request_(request), ranks_(ranks), monitor_(!request.trace_path.empty(), start), summary_{request.options,
                                                                                               result_,
                                                                                               monitor_,
                                                                                               ranks,
                                                                                               std::move(command_line),
                                                                                               spent_so_far(ranks)} {
  if (!request.quiet) monitor_.on_note(print_note);
  count_all_ranks(monitor_, ranks);
}

void SortRun::run() {
  {
    const ProgressPrinter progress(monitor_, {.style = ranks_.rank() == 0 ? request_.progress : ProgressStyle::kNone,
                                              .launched = ranks_.launched()});
    sort::sort_records(request_.options, ranks_, monitor_, result_);
  }
  work_ = sort::gather_work(result_.work, ranks_);
  reports_ = ranks_.gather_text(rank_report(summary_));
  if (!request_.trace_path.empty()) traces_ = ranks_.gather_text(rank_trace(summary_));
}

void SortRun::end_with(const std::string& failure) {
  monitor_.end_phases();
  summary_.error = failure;
  reports_ = {rank_report(summary_)};
  traces_ = {rank_trace(summary_)};
}

}  // namespace hetsort::cli
