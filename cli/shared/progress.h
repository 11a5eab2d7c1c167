// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a sort is, on standard error: a bar that moves in a terminal, plain lines elsewhere.
#pragma once

#include <boost/program_options.hpp>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sort/monitor.h"

namespace hetsort::cli {

enum class ProgressStyle : std::uint8_t { kAuto, kBar, kLines, kNone };
/// The option --progress.
void add_progress_option(boost::program_options::options_description& options);
/// Without the option as the program sees fit, with `quiet` none. Throws: UsageError.
ProgressStyle requested_progress(const boost::program_options::variables_map& values, bool quiet);

/// Prints from a thread of its own while it lives. Short jobs print nothing.
class ProgressPrinter {
 public:
  ProgressPrinter(const sort::Monitor& monitor, ProgressStyle style);
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  ~ProgressPrinter();

 private:
  void run();
  void print();

  const sort::Monitor& monitor_;
  bool bar_ = false;
  bool printed_ = false;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

/// "form_runs  42 %  3.4 of 8.0 GB  712 MB/s  ETA 0:07"; without a total the parts that need one are left out.
std::string progress_text(const sort::Monitor::Progress& progress);

}  // namespace hetsort::cli
