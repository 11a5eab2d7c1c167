// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a sort is, on standard error: a bar that moves in a terminal, plain lines elsewhere.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "comm/communicator.h"
#include "job/options/option.h"
#include "sort/model/monitor.h"

namespace hetsort::cli {

enum class ProgressStyle : std::uint8_t { kAuto, kBar, kLines, kNone };
/// Adds the option --progress.
void add_progress_option(job::Options& options, std::optional<ProgressStyle>& style);
/// Adds the option --quiet.
void add_quiet_option(job::Options& options, bool& quiet);
/// How progress is printed.
struct ProgressForm {
  ProgressStyle style = ProgressStyle::kAuto;
  bool launched = false;     ///< a user waits for several processes to start: the first line comes soon
  std::string long_note{};   ///< printed once if the job will take longer than ten minutes
  double whole_seconds = 0;  ///< duration of a job that takes a known time; 0 = its work says how far it is
};
/// On rank 0 the requested style, or without one what fits the terminal, or with `quiet` none. None on other ranks.
ProgressForm progress_form(std::optional<ProgressStyle> given, bool quiet, const comm::Communicator& ranks);

/// Prints from a thread of its own while it lives. Short jobs print nothing. Lines come ever more rarely.
class ProgressPrinter {
 public:
  ProgressPrinter(const sort::Monitor& monitor, const ProgressForm& form);
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  ~ProgressPrinter();

 private:
  void run();
  void look(bool prints);
  const sort::Monitor& monitor_;
  ProgressForm form_;
  bool bar_ = false;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

/// The fraction of the job that is done: of its time if `whole_seconds` is above 0, else of its work. 0 = not known.
double done_part(const sort::Monitor::Progress& progress, double whole_seconds);

/// Whether a job will take longer than ten minutes, once a hundredth of it has shown that.
bool is_long(double seconds, double part);

/// "form_runs  42 %  3.4 of 8.0 GB  712 MB/s  ETA 0:07" in at most `columns` columns. The least important words are
/// left out first. Without a known total there is no percentage and no ETA. The ETA supposes that the rest goes at the
/// average rate so far: work is weighted for that, and the rate of one phase would say little about the next.
std::string progress_text(const sort::Monitor::Progress& progress, double part, std::size_t columns);
/// Shows a bar in front of these words, if there is a part to show and room for 8 columns of it. Bar and words keep
/// their places while numbers change.
std::string bar_text(const sort::Monitor::Progress& progress, double part, std::size_t columns);

}  // namespace hetsort::cli
