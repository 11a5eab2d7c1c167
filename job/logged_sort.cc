// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/logged_sort.h"

#include <utility>

namespace hetsort::job {

LoggedSort::LoggedSort(const SortJob& job, comm::Communicator& ranks, SortLog log)
    : job_(job),
      ranks_(ranks),
      traced_(log.traced),
      monitor_(log.traced, log.start),
      summary_{job.options, result_, monitor_, ranks, std::move(log.command_line), spent_so_far(ranks)} {
  count_all_ranks(monitor_, ranks);
}

void LoggedSort::run() {
  sort::sort_records(job_.options, ranks_, monitor_, result_);
  work_ = sort::gather_work(result_.work, ranks_);
  reports_ = ranks_.gather_text(rank_report(summary_));
  if (traced_) traces_ = ranks_.gather_text(rank_trace(summary_));
}

void LoggedSort::end_with(const std::string& failure) {
  monitor_.end_phases();
  summary_.error = failure;
  reports_ = {rank_report(summary_)};
  traces_ = {rank_trace(summary_)};
}

void count_all_ranks(sort::Monitor& monitor, comm::Communicator& ranks) {
  ranks.count_work(monitor.work());
  if (ranks.rank() == 0) monitor.add_others([&ranks] { return ranks.work_of_others(); });
}

}  // namespace hetsort::job
