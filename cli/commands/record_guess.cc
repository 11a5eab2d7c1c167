// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/record_guess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "gen/record_format.h"
#include "io/calls/retry.h"
#include "io/calls/system_calls.h"

namespace hetsort::cli {

namespace {

constexpr std::size_t kSampleBytes = 16 * gen::kRecordBytes;

bool is_ascii_record(std::string_view record) {
  return record.substr(10, 2) == "  " && record.substr(44, 2) == "  " && record.ends_with("\r\n");
}

/// Closes it when the object dies.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int number) : fd(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// What stands at the front of a pipe, which keeps it. Waits a second for it.
ssize_t peek(int pipe, std::span<std::byte> into) {
  constexpr int kWaitMilliseconds = 1000;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const Descriptor out(ends[0]);
  const Descriptor in(ends[1]);
  pollfd wait{.fd = pipe, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, kWaitMilliseconds) != 1) return -1;
  if (::tee(pipe, in.fd, into.size(), SPLICE_F_NONBLOCK) <= 0) return -1;
  return ::read(out.fd, into.data(), into.size());
}

ssize_t read_front(int fd, std::uint64_t header_bytes, std::span<std::byte> into) {
  struct stat status {};
  if (io::retry_interrupted([&] { return io::syscalls::fstat(fd, &status); }) != 0) return -1;
  if (S_ISREG(status.st_mode)) {
    const off_t at = std::max<off_t>(0, ::lseek(fd, 0, SEEK_CUR));
    const std::uint64_t from = static_cast<std::uint64_t>(at) + header_bytes;
    return io::retry_interrupted([&] { return io::syscalls::pread(fd, into.data(), into.size(), from); });
  }
  return S_ISFIFO(status.st_mode) && header_bytes == 0 ? peek(fd, into) : -1;
}

}  // namespace

bool resemble_benchmark_records(std::span<const std::byte> records) {
  // Among 90 random bytes, no value occurs more often than this.
  constexpr std::size_t kMaxOfFew = 8;
  constexpr std::size_t kMaxPart = 20;  // of many random bytes, none is a twentieth
  std::array<std::size_t, 256> count{};
  bool ascii = true;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at + gen::kRecordBytes <= records.size(); at += gen::kRecordBytes) {
    const std::span<const std::byte> record = records.subspan(at, gen::kRecordBytes);
    ascii = ascii && is_ascii_record({reinterpret_cast<const char*>(record.data()), record.size()});
    for (const std::byte byte : record.subspan(gen::kKeyBytes)) ++count[std::to_integer<std::size_t>(byte)];
    bytes += gen::kRecordBytes - gen::kKeyBytes;
  }
  return ascii || *std::max_element(count.begin(), count.end()) <= std::max(kMaxOfFew, bytes / kMaxPart);
}

bool begins_like_benchmark_records(const std::string& path, std::uint64_t header_bytes) {
  struct stat status {};
  // Not a named pipe: its writer would lose its reader when this one ends.
  const auto stat = [&] { return io::syscalls::stat(path.c_str(), &status); };
  if (path != "-" && (io::retry_interrupted(stat) != 0 || !S_ISREG(status.st_mode))) return true;
  const auto open = [&] { return io::syscalls::open(path.c_str(), O_RDONLY, 0); };
  const Descriptor file(path == "-" ? ::dup(STDIN_FILENO) : io::retry_interrupted(open));
  std::array<std::byte, kSampleBytes> front{};
  const ssize_t got = read_front(file.fd, header_bytes, front);
  const auto whole = static_cast<std::size_t>(std::max<ssize_t>(0, got)) / gen::kRecordBytes * gen::kRecordBytes;
  return resemble_benchmark_records(std::span(front).first(whole));
}

}  // namespace hetsort::cli
