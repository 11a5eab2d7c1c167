// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/event.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "comm/base/crc32c.h"

namespace hetsort::comm {

namespace {

/// Bytes of a datagram that this process sends itself; a ring has none.
constexpr std::size_t kSignalBytes = 1;
/// Digits of the name that the kernel gives a socket. A zero byte stands before them.
constexpr std::size_t kNameDigits = 5;

struct SocketName {
  sockaddr_un address{};
  socklen_t bytes = offsetof(sockaddr_un, sun_path) + 1 + kNameDigits;
};

SocketName name_of(std::uint64_t number) {
  SocketName name;
  name.address.sun_family = AF_UNIX;
  fmt::format_to_n(&name.address.sun_path[1], kNameDigits, "{:05x}", number);
  return name;
}

/// The number in the name of a socket, or 0 if the kernel did not choose it.
std::uint64_t number_of(const SocketName& name) {
  std::uint64_t number = 0;
  const char* const digits = &name.address.sun_path[1];
  const bool is_chosen = name.bytes == SocketName{}.bytes && name.address.sun_path[0] == '\0';
  const auto [end, error] = std::from_chars(digits, digits + kNameDigits, number, 16);
  return is_chosen && error == std::errc() && end == digits + kNameDigits ? number : 0;
}

/// Identifies the network namespace of this process, in which names of sockets are unique; 0 if it is not known.
std::uint64_t own_place() {
  struct stat space {};
  std::string boot;
  if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot) || boot.empty()) return 0;
  // Virtual machines that began as copies of one have the same boot, but names of their own.
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return 0;
  boot += host.data();
  if (::stat("/proc/self/ns/net", &space) != 0) return 0;
  return std::uint64_t{crc32c(std::as_bytes(std::span(boot)))} << 32U | (space.st_ino & 0xffffffffU);
}

}  // namespace

Event::~Event() {
  if (socket_ >= 0) ::close(socket_);
}

void Event::open_bell() {
  const std::uint64_t place = own_place();
  if (place == 0) return;
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return;
  SocketName name;
  name.address.sun_family = AF_UNIX;
  // Without a name in the address the kernel chooses one.
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&name.address), sizeof(name.address.sun_family)) == 0) {
    name.bytes = sizeof(name.address);
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&name.address), &name.bytes) == 0)
      bell_ = {place, number_of(name)};
  }
  if (bell_.number != 0) return;
  bell_ = {};
  ::close(socket_);
  socket_ = -1;
}

void Event::send_to(std::uint64_t number, std::size_t bytes) const {
  constexpr std::array<std::byte, kSignalBytes> kNothing{};
  const SocketName name = name_of(number);
  // If it fails, the receiver has ended, or has many datagrams to take.
  static_cast<void>(::sendto(socket_, kNothing.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&name.address), name.bytes));
}

void Event::ring(const BellAddress& other) const {
  if (socket_ >= 0) send_to(other.number, 0);
}

void Event::signal() {
  if (socket_ >= 0) {
    signalled_ = true;
    if (asleep_) send_to(bell_.number, kSignalBytes);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    signalled_ = true;
  }
  changed_.notify_all();
}

bool Event::sleep(Clock::duration limit) {
  if (socket_ >= 0) return sleep_on_socket(limit);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return signalled_.load(); });
  signalled_ = false;
  return false;
}

bool Event::sleep_on_socket(Clock::duration limit) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  const timespec timeout{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  pollfd socket{socket_, POLLIN, 0};
  asleep_ = true;
  if (!signalled_) ::ppoll(&socket, 1, &timeout, nullptr);
  asleep_ = false;
  bool was_rung = false;
  std::array<std::byte, kSignalBytes> ignored{};
  for (ssize_t bytes = 0; bytes >= 0; was_rung |= bytes == 0)
    bytes = ::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT);
  signalled_ = false;
  return was_rung;
}

Clock::duration Backoff::next(const Limits& limits) {
  const auto pause = std::clamp<Clock::duration>(slept_ / limits.part, limits.least, limits.most);
  slept_ += pause;
  return pause;
}

}  // namespace hetsort::comm
