// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <span>

#include "io/file.h"

namespace hetsort::cli {

namespace {

/// Bytes of the printable UTF-8 character at the start of `text`; 0 if there is none.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  const bool is_control = first == 0xc2 && byte(1) < 0xa0;
  return is_control ? 0 : length;
}

std::string escape_of(char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
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

void write_error(std::string_view lines) {
  const NoBrokenPipeSignal guard;
  while (!lines.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string message_of(std::string_view text) { return fmt::format("hetsort: {}\n", terminal_safe(text)); }

}  // namespace

std::string terminal_safe(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    result += bytes > 0 ? std::string(text.substr(0, bytes)) : escape_of(text.front());
    text.remove_prefix(bytes > 0 ? bytes : 1);
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

void print_lines(std::string_view lines) {
  if (talk() != Talk::kErrors) write_error(lines);
}

void write_output(std::string_view text) { io::standard_output().write(std::as_bytes(std::span(text))); }

}  // namespace hetsort::cli
