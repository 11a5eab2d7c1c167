// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cli/options/typed_options.h"
#include "cli/shared/messages.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

constexpr auto kBarStep = std::chrono::milliseconds(250);
constexpr auto kLineStep = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// A dumb terminal prints them.
bool takes_control_sequences() {
  const char* const terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

}  // namespace

void add_progress_option(po::options_description& options) {
  options.add_options()("progress",
                        choice<ProgressStyle>("FORM", "--progress",
                                              {{"auto", ProgressStyle::kAuto},
                                               {"bar", ProgressStyle::kBar},
                                               {"lines", ProgressStyle::kLines},
                                               {"none", ProgressStyle::kNone}})
                            ->default_value(ProgressStyle::kAuto, "auto"),
                        "auto (a bar on a terminal, else a line every 5 s), bar, lines or none");
}

ProgressStyle requested_progress(const po::variables_map& values, bool quiet) {
  return quiet && values["progress"].defaulted() ? ProgressStyle::kNone : value_of<ProgressStyle>(values, "progress");
}

std::string progress_text(const sort::Monitor::Progress& progress) {
  const double done = static_cast<double>(progress.done_bytes);
  const double total = static_cast<double>(progress.total_bytes);
  const double rate = progress.phase_seconds > 0 ? done / progress.phase_seconds : 0;
  std::string text = fmt::format("{:<10}", progress.phase);
  if (total > 0) text += fmt::format(" {:3.0f} %  {:.1f} of {:.1f} GB", 100 * done / total, done / 1e9, total / 1e9);
  if (total <= 0 && done > 0) text += fmt::format("  {:.1f} GB", done / 1e9);
  if (rate > 0) text += fmt::format("  {:.0f} MB/s", rate / 1e6);
  if (total > 0 && rate > 0) text += fmt::format("  ETA {}", clock_text((total - done) / rate));
  return text;
}

ProgressPrinter::ProgressPrinter(const sort::Monitor& monitor, ProgressStyle style) : monitor_(monitor) {
  if (style == ProgressStyle::kNone) return;
  const bool wants_bar =
      style == ProgressStyle::kBar || (style == ProgressStyle::kAuto && ::isatty(STDERR_FILENO) == 1);
  bar_ = wants_bar && takes_control_sequences();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // The system allows no further thread: the sort goes on without progress.
  }
}

ProgressPrinter::~ProgressPrinter() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void ProgressPrinter::run() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    if (bar_)
      ending_.wait_for(lock, kBarStep, [&] { return end_; });
    else
      ending_.wait_for(lock, kLineStep, [&] { return end_; });
    if (!end_) print();
  }
  if (bar_ && printed_) print_lines("\r\x1b[K");
}

void ProgressPrinter::print() {
  const sort::Monitor::Progress progress = monitor_.progress();
  if (progress.phase.empty()) return;
  const std::string text = progress_text(progress);
  if (!bar_) {
    print_message(text);
    return;
  }
  std::string bar;
  if (progress.total_bytes > 0) {
    const auto filled =
        static_cast<int>(static_cast<double>(kBarWidth) * std::min(1.0, static_cast<double>(progress.done_bytes) /
                                                                            static_cast<double>(progress.total_bytes)));
    bar = fmt::format("[{:<{}}] ", std::string(static_cast<std::size_t>(filled), '='), kBarWidth);
  }
  print_lines(fmt::format("\r{}{}\x1b[K", bar, text));
  printed_ = true;
}

}  // namespace hetsort::cli
