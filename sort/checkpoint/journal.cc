// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "io/calls/system_calls.h"
#include "io/checksum/checksum.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

constexpr std::size_t kSumDigits = 8;

std::uint32_t checksum_of(std::string_view text) { return io::crc32c(std::as_bytes(std::span(text))); }

/// The text of a line whose checksum is right; of others nothing.
std::string_view text_of(std::string_view line) {
  if (line.size() <= kSumDigits + 1) return {};
  const std::string_view text = line.substr(0, line.size() - kSumDigits - 1);
  return line.substr(text.size()) == fmt::format(" {:08x}", checksum_of(text)) ? text : std::string_view{};
}

struct JournalText {
  std::vector<std::string> lines{};
  std::size_t damaged_lines = 0;
  std::uint64_t bytes = 0;  ///< bytes up to the end of the last line that has an end
};

JournalText read_lines(const io::File& file) {
  std::string text(file.status().size_bytes, '\0');
  text.resize(file.read_at(std::as_writable_bytes(std::span(text)), 0));
  JournalText found;
  std::string_view left = text;
  for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    const std::string_view line = text_of(left.substr(0, end));
    left.remove_prefix(end + 1);
    if (!line.empty())
      found.lines.emplace_back(line);
    else if (!left.empty())
      ++found.damaged_lines;
  }
  found.bytes = text.size() - left.size();
  return found;
}

/// Throws: RequestError if another process has a lock of `path` and keeps it.
void lock_file(const io::File& file, const std::string& path, int kind) {
  constexpr auto kDying = std::chrono::seconds(3);  // the kernel frees the memory of most processes in less
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto end = std::chrono::steady_clock::now() + kDying;
  while (::flock(file.descriptor(), kind | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() > end)
      throw RequestError(fmt::format("checkpoint {}: another sort uses it; wait for its end, or name another folder",
                                     path.substr(0, path.rfind('/'))));
    std::this_thread::sleep_for(kPause);
  }
}

/// Opens and locks the file. Returns a closed File if its name was removed meanwhile. Throws: RequestError, io::Error.
io::File open_locked(const std::string& path, int flags, int kind) {
  io::File file = io::File::open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600, "open");
  lock_file(file, path, kind);
  struct stat opened {};
  struct stat named {};
  const bool same = io::syscalls::fstat(file.descriptor(), &opened) == 0 &&
                    io::syscalls::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                    opened.st_ino == named.st_ino;
  return same ? std::move(file) : io::File();
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
  // A sort that ends removes its journal, perhaps between the opening and the lock.
  while (!file_.is_open()) {
    try {
      file_ = open_locked(path_, O_RDWR, LOCK_EX);
    } catch (const io::Error& error) {
      const std::string folder = path_.substr(0, path_.rfind('/'));
      if (error.error_number() != ENOENT || io::kind_at(folder) != io::FileKind::kDirectory) throw;
      return;
    }
  }
  JournalText found = read_lines(file_);
  lines_ = std::move(found.lines);
  damaged_lines_ = found.damaged_lines;
  end_ = found.bytes;
}

void Journal::create() {
  while (!file_.is_open()) file_ = open_locked(path_, O_RDWR | O_CREAT, LOCK_EX);
}

void Journal::append(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    text += fmt::format("{} {:08x}\n", line, checksum_of(line));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  file_.write_at(std::as_bytes(std::span(text)), end_);
  file_.truncate(end_ + text.size());
  file_.sync();
  end_ += text.size();
}

void Journal::clear() {
  if (file_.is_open()) file_.truncate(0);
  lines_.clear();
  damaged_lines_ = 0;
  end_ = 0;
}

std::vector<std::string> read_journal(const io::File& file) { return read_lines(file).lines; }

io::File open_unused_journal(const std::string& path) {
  try {
    return open_locked(path, O_RDONLY, LOCK_SH);
  } catch (const io::Error& error) {
    if (error.error_number() != ENOENT) throw;
    return {};
  }
}

std::string as_word(std::string_view text) {
  std::string word;
  for (const char byte : text)
    if (byte > ' ' && byte < '\x7f' && byte != '%')
      word += byte;
    else
      word += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  return word.empty() ? "%" : word;
}

std::string text_of_word(std::string_view word) {
  std::string text;
  for (std::size_t at = 0; at < word.size(); ++at) {
    unsigned byte = 0;
    const bool coded = word[at] == '%' && at + 2 < word.size();
    if (coded && std::from_chars(&word[at + 1], &word[at + 1] + 2, byte, 16).ec == std::errc()) {
      text += static_cast<char>(byte);
      at += 2;
    } else if (word[at] != '%') {
      text += word[at];
    }
  }
  return text;
}

std::string_view LineWords::word() {
  const std::string_view found = left_.substr(0, left_.find(' '));
  bad_ |= found.empty();
  left_.remove_prefix(std::min(left_.size(), found.size() + 1));
  return found;
}

std::uint64_t LineWords::number(int base) {
  const std::string_view text = word();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  bad_ |= error != std::errc() || end != text.data() + text.size();
  return value;
}

}  // namespace hetsort::sort
