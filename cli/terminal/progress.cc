// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/terminal/columns.h"
#include "cli/terminal/messages.h"
#include "job/options/parse.h"

namespace hetsort::cli {

namespace {

constexpr auto kStep = std::chrono::milliseconds(200);
constexpr double kFirstLineSeconds = 5;
constexpr double kFirstLaunchedSeconds = 0.8;
constexpr double kLineGrowth = 1.5;  // growth of the time from one line to the next
constexpr double kMinLineStep = 2;
constexpr double kMaxLineStep = 300;
constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kMinBarWidth = 8;
constexpr std::size_t kMaxLineColumns = 120;

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// The width of the terminal that standard error is; 80 where it does not report it.
std::size_t terminal_columns() {
  constexpr std::size_t kMinColumns = 8;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumns;
  return std::max<std::size_t>(kMinColumns, size.ws_col);
}

/// Whether the terminal takes control sequences: a dumb one prints them.
bool takes_control_sequences() {
  const char* const terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

}  // namespace

void add_progress_option(job::Options& options, std::optional<ProgressStyle>& style) {
  options.add(job::choice({.name = "progress",
                           .value = "FORM",
                           .usual = "auto",
                           .help = "auto (a bar on a terminal, else now and then a line), bar, lines or none",
                           .of_one_rank = true},
                          style,
                          std::vector<std::pair<std::string, ProgressStyle>>{{"auto", ProgressStyle::kAuto},
                                                                             {"bar", ProgressStyle::kBar},
                                                                             {"lines", ProgressStyle::kLines},
                                                                             {"none", ProgressStyle::kNone}}));
}

void add_quiet_option(job::Options& options, bool& quiet) {
  options.add({.name = "quiet",
               .letter = 'q',
               .help = "no progress and no notes; errors only",
               .of_one_rank = true,
               .fill = job::turn_on(quiet)});
}

double done_part(const sort::Monitor::Progress& progress, double whole_seconds) {
  const double done = whole_seconds > 0 ? progress.seconds : static_cast<double>(progress.done_bytes);
  const double total = whole_seconds > 0 ? whole_seconds : static_cast<double>(progress.total_bytes);
  return total > 0 ? std::min(1.0, done / total) : 0;
}

bool is_long(double seconds, double part) {
  constexpr double kLongSeconds = 600;
  constexpr double kLeastPart = 0.01;
  return part >= kLeastPart && seconds / part > kLongSeconds;
}

namespace {

struct Word {
  std::string text;
  int rank;           // the words with the highest rank are left out first
  std::size_t width;  // columns that the widest word in this place usually needs
};
constexpr int kRanks = 5;

std::vector<Word> words_of(const sort::Monitor::Progress& progress, double part) {
  const bool knows_total = progress.total_bytes > 0;
  const auto data = static_cast<double>(progress.data_bytes > 0 ? progress.data_bytes : progress.total_bytes);
  const double bytes = knows_total ? part * data : static_cast<double>(progress.done_bytes);
  std::vector<Word> words{{progress.phase, 2, std::strlen("select_splitters")}};
  if (part > 0) words.push_back({fmt::format("{:.0f} %", 100 * part), 0, std::strlen("100 %")});
  const std::string all = fmt::format("{:.1f}", data / 1e9);
  if (bytes > 0 && knows_total)
    words.push_back({fmt::format("{:.1f} of {} GB", bytes / 1e9, all), 3, 2 * all.size() + std::strlen(" of  GB")});
  if (bytes > 0 && !knows_total) words.push_back({fmt::format("{:.1f} GB", bytes / 1e9), 3, std::strlen("100.0 GB")});
  if (bytes > 0 && progress.seconds > 0)
    words.push_back({fmt::format("{:.0f} MB/s", bytes / progress.seconds / 1e6), 4, std::strlen("1000 MB/s")});
  if (part > 0)
    words.push_back(
        {fmt::format("ETA {}", clock_text(progress.seconds * (1 - part) / part)), 1, std::strlen("ETA 10:00")});
  return words;
}

/// The words below a rank; `steady`: each in the columns that it usually needs.
std::string joined(const std::vector<Word>& words, int rank, bool steady) {
  std::string text;
  for (const Word& word : words)
    if (word.rank < rank) text += fmt::format("{}{:<{}}", text.empty() ? "" : "  ", word.text, steady ? word.width : 0);
  return text;
}

}  // namespace

std::string progress_text(const sort::Monitor::Progress& progress, double part, std::size_t columns) {
  const std::vector<Word> words = words_of(progress, part);
  for (int rank = kRanks;; --rank) {
    const std::string text = joined(words, rank, false);
    if (text.size() <= columns || rank == 1) return text.substr(0, columns);
  }
}

std::string bar_text(const sort::Monitor::Progress& progress, double part, std::size_t columns) {
  constexpr std::size_t kFrame = 3;
  const std::vector<Word> words = words_of(progress, part);
  for (int rank = part > 0 ? kRanks : 0; rank > 0; --rank) {
    const std::string text = joined(words, rank, true);
    if (text.size() + kFrame + kMinBarWidth > columns) continue;
    const std::size_t width = std::min(kBarWidth, columns - text.size() - kFrame);
    const auto filled = static_cast<std::size_t>(static_cast<double>(width) * part);
    return fmt::format("[{:<{}}] {}", std::string(filled, '='), width, text);
  }
  return progress_text(progress, part, columns);
}

ProgressForm progress_form(std::optional<ProgressStyle> given, bool quiet, const comm::Communicator& ranks) {
  const ProgressStyle style = given.value_or(quiet ? ProgressStyle::kNone : ProgressStyle::kAuto);
  return {.style = ranks.rank() == 0 ? style : ProgressStyle::kNone, .launched = ranks.launched()};
}

ProgressPrinter::ProgressPrinter(const sort::Monitor& monitor, const ProgressForm& form)
    : monitor_(monitor), form_(form) {
  const Talk least = form.style == ProgressStyle::kAuto ? Talk::kAll : Talk::kOnlyAsked;
  if (form.style == ProgressStyle::kNone || talk() > least) return;
  const bool wants_bar =
      form.style == ProgressStyle::kBar || (form.style == ProgressStyle::kAuto && ::isatty(STDERR_FILENO) == 1);
  bar_ = wants_bar && takes_control_sequences();
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // The system allows no further thread: the job goes on without progress.
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
  double next_line = form_.launched ? kFirstLaunchedSeconds : kFirstLineSeconds;
  const auto begin = std::chrono::steady_clock::now();
  while (!ending_.wait_for(lock, kStep, [&] { return end_; })) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    const bool prints = bar_ || passed.count() >= next_line;
    if (prints && !bar_) next_line += std::clamp(next_line * (kLineGrowth - 1), kMinLineStep, kMaxLineStep);
    look(prints);
  }
  if (bar_) print_lines("");
}

void ProgressPrinter::look(bool prints) {
  const sort::Monitor::Progress progress = monitor_.progress();
  if (progress.phase.empty()) return;
  const double part = done_part(progress, form_.whole_seconds);
  if (!form_.long_note.empty() && is_long(progress.seconds, part)) print_note(std::exchange(form_.long_note, ""));
  if (!prints) return;
  if (!bar_) return print_remark(progress_text(progress, part, kMaxLineColumns));
  // The last column stays free: some terminals go to the next line there.
  const std::size_t columns = terminal_columns() - 1;
  show_bar(bar_text(progress, part, columns));
}

}  // namespace hetsort::cli
