// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/messages.h"

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

namespace hetsort::cli {

namespace {

/// A character of UTF-8; no bytes = none.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;
};

/// The character at the start of `text`, in its shortest form.
Character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (text.empty()) return {};
  if (first < 0x80) return {first, 1};
  if (first < 0xc2 || first > 0xf4) return {};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  char32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast.at(length) || code > 0x10ffff || is_surrogate ? Character{} : Character{code, length};
}

/// Whether a terminal obeys the character instead of showing it, or shows what follows in another order or line.
bool is_control(char32_t code) noexcept {
  const auto within = [code](char32_t low, char32_t high) { return low <= code && code <= high; };
  if (within(0, 0x1f) || within(0x7f, 0x9f)) return true;
  const bool changes_direction =
      code == 0x61c || within(0x200e, 0x200f) || within(0x202a, 0x202e) || within(0x2066, 0x2069);
  return changes_direction || within(0x2028, 0x2029);
}

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

std::size_t printable_bytes(std::string_view text) noexcept {
  const Character character = first_character(text);
  return character.bytes == 0 || is_control(character.code) ? 0 : character.bytes;
}

std::size_t character_bytes(std::string_view text) noexcept {
  return std::max<std::size_t>(1, first_character(text).bytes);
}

bool is_printable(std::string_view text) noexcept {
  std::size_t bytes = 1;
  for (; !text.empty() && bytes > 0; text.remove_prefix(bytes)) bytes = printable_bytes(text);
  return bytes > 0;
}

std::string with_replacements(std::string_view text, std::string_view replacement) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    result += printable_bytes(text) > 0 ? text.substr(0, bytes) : replacement;
    text.remove_prefix(bytes);
  }
  return result;
}

std::string terminal_safe(std::string_view text) {
  const bool reads_utf8 = terminal_reads_utf8();
  std::string result;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, character_bytes(text));
    if (printable_bytes(text) > 0 && (reads_utf8 || !has_control_byte(character)))
      result += character;
    else
      for (const char byte : character) result += escape_of(byte);
    text.remove_prefix(character.size());
  }
  return result;
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

void end_bars() noexcept {
  bars_ended = true;
  // The thread that writes may be the one that the signal interrupted, or the terminal may be stopped.
  constexpr int kMaxMilliseconds = 20;
  for (int i = 0; bar_is_written && i < kMaxMilliseconds; ++i) ::usleep(1000);
  if (bar_is_shown.exchange(false)) static_cast<void>(!::write(STDERR_FILENO, kClearLine.data(), kClearLine.size()));
}

void write_output(std::string_view text) { io::standard_output().write(std::as_bytes(std::span(text))); }

}  // namespace hetsort::cli
