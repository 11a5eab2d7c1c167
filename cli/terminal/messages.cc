// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <utility>

#include "io/publish.h"
#include "job/report/printable.h"

namespace hetsort::cli {

namespace {

/// Whether the locale of the environment says that terminals read UTF-8.
bool terminal_reads_utf8() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    return ::strcasestr(locale, "utf-8") != nullptr || ::strcasestr(locale, "utf8") != nullptr;
  }
  return false;
}

/// Whether a terminal of 8-bit characters would take a byte of the character for a control character.
bool has_control_byte(std::string_view character) {
  return std::ranges::any_of(character, [](unsigned char byte) { return byte >= 0x80 && byte < 0xa0; });
}

/// Whether standard error ends in a bar that the next message must replace.
std::atomic<bool> bar_is_shown{false};
std::atomic<bool> bar_is_written{false};
std::atomic<bool> bars_ended{false};

std::string escape_of(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

/// Moves to the start of the line and empties it.
constexpr std::string_view kClearLine = "\r\x1b[K";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Keeps a pipe without a reader from ending the process while this object lives.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;
  ~NoBrokenPipeSignal() {
    constexpr timespec kNow{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &kNow);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

std::atomic<Talk> talk_limit{Talk::kAll};

/// Writes lines in place of a bar.
void write_error(std::string_view lines) {
  const NoBrokenPipeSignal guard;
  write_all(bar_is_shown.exchange(false) ? std::string(kClearLine).append(lines) : std::string(lines));
}

std::string message_of(std::string_view text) { return fmt::format("hetsort: {}\n", terminal_safe(text)); }

}  // namespace

std::string terminal_safe(std::string_view text) {
  const bool reads_utf8 = terminal_reads_utf8();
  std::string result;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, job::character_bytes(text));
    if (job::printable_bytes(text) > 0 && (reads_utf8 || !has_control_byte(character)))
      result += character;
    else
      for (const char byte : character) result += escape_of(byte);
    text.remove_prefix(character.size());
  }
  return result;
}

std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? "'\\''" : std::string(1, letter);
  return result + "'";
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+./:,@%";
  return !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos ? std::string(text)
                                                                                   : single_quoted(text);
}

void limit_talk(Talk talk) {
  Talk now = talk_limit;
  while (now < talk && !talk_limit.compare_exchange_weak(now, talk)) {
  }
}

Talk talk() { return talk_limit; }

void print_message(std::string_view text) { write_error(message_of(text)); }

void print_remark(std::string_view text) { print_lines(message_of(text)); }

void print_note(std::string_view text) {
  if (talk() == Talk::kAll) print_message(fmt::format("note: {}", text));
}

std::function<void(const std::string&)> print_one_note() {
  return [printed = std::make_shared<bool>(false)](const std::string& text) {
    if (!std::exchange(*printed, true)) print_note(text);
  };
}

void print_lines(std::string_view lines) {
  if (talk() != Talk::kErrors) write_error(lines);
}

void show_bar(std::string_view text) {
  const NoBrokenPipeSignal guard;
  bar_is_written = true;
  if (!bars_ended) {
    // With the cursor at the start of the line, the ^C of a terminal stays on it.
    write_all(fmt::format("\r{}\x1b[K\r", text));
    bar_is_shown = true;
  }
  bar_is_written = false;
}

bool end_bars() noexcept {
  bars_ended = true;
  // The thread that writes may be the one that the signal interrupted, or the terminal may be stopped.
  constexpr int kMaxMilliseconds = 20;
  for (int i = 0; bar_is_written && i < kMaxMilliseconds; ++i) ::usleep(1000);
  const bool shown = bar_is_shown.exchange(false);
  if (shown) static_cast<void>(!::write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
  return shown;
}

void write_output(std::string_view text) { io::standard_output().write(std::as_bytes(std::span(text))); }

}  // namespace hetsort::cli
