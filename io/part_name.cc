// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/part_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "io/calls/seam.h"
#include "io/publish.h"

namespace hetsort::io {

namespace {

constexpr std::string_view kMark = ".hetsort-";
constexpr std::string_view kEnd = ".part";
// Leaves room for dot, mark, process id and end within the 255 bytes of a file name.
constexpr std::size_t kLongestNameBytes = 200;

// One name the signal handler removes. It goes free -> taken -> armed -> free; the handler moves it from armed to
// gone, where it stays, so that the handler never reads a path that is being written.
struct Slot {
  enum State : int { kFree, kTaken, kArmed, kGone };
  std::atomic<int> state{kFree};
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free, "the signal handler may not lock");

// One output a process is the rule and one a rank in simulated jobs; what finds no slot is removed by its owner only.
constexpr int kSlots = 64;
std::array<Slot, kSlots> slots;
std::mutex slots_mutex;  // guards the taking of slots; the handler does without

bool is_armed(const std::string& path) {
  return std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    return slot.state.load(std::memory_order_acquire) == Slot::kArmed && path == slot.path.data();
  });
}

int arm(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (int i = 0; i < kSlots; ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].state.store(Slot::kArmed, std::memory_order_release);
    return i;
  }
  return -1;
}

void disarm(int slot) noexcept {
  int expected = Slot::kArmed;
  if (slot >= 0) slots[slot].state.compare_exchange_strong(expected, Slot::kFree);
}

std::string prefix_of(const std::string& name) {
  std::string prefix(1, '.');
  return prefix.append(name, 0, kLongestNameBytes).append(kMark);
}

/// Whether `entry` is a part's name: the prefix, digits and dashes, the end.
bool is_part(std::string_view entry, std::string_view prefix) {
  if (entry.size() <= prefix.size() + kEnd.size() || !entry.starts_with(prefix) || !entry.ends_with(kEnd)) return false;
  const std::string_view owner = entry.substr(prefix.size(), entry.size() - prefix.size() - kEnd.size());
  return owner.find_first_not_of("0123456789-") == std::string_view::npos;
}

void remove_if_stale(const std::string& path) {
  const int fd = seam::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0) return;
  struct stat opened {};
  struct stat named {};
  // Between open and lock its owner may have published it and another taken the name: compare before removing.
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && seam::fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) &&
      ::lstat(path.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
    seam::unlink(path.c_str());
  ::close(fd);
}

}  // namespace

PartName::PartName(PartName&& other) noexcept
    : path_(std::exchange(other.path_, {})), slot_(std::exchange(other.slot_, -1)) {}

PartName& PartName::operator=(PartName&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    slot_ = std::exchange(other.slot_, -1);
  }
  return *this;
}

PartName::~PartName() { remove(); }

PartName PartName::adopt(const std::string& path) {
  PartName part;
  part.path_ = path;
  part.slot_ = arm(path);
  return part;
}

PartName PartName::reserve(const std::string& folder, const std::string& name, unsigned attempt) {
  std::string path = folder + "/" + prefix_of(name) + std::to_string(::getpid());
  if (attempt > 0) path.append("-").append(std::to_string(attempt));
  path += kEnd;
  const std::lock_guard lock(slots_mutex);
  if (is_armed(path)) return {};
  PartName part;
  part.slot_ = arm(path);
  part.path_ = std::move(path);
  return part;
}

void PartName::remove() noexcept {
  if (!path_.empty()) ::unlink(path_.c_str());
  forget();
}

void PartName::forget() noexcept {
  disarm(std::exchange(slot_, -1));
  path_.clear();
}

void lock_part(int fd) {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

void remove_stale_parts(const std::string& folder, const std::string& name) noexcept {
  try {
    const std::string prefix = prefix_of(name);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
    if (!entries) return;
    while (const dirent* entry = ::readdir(entries.get()))
      if (is_part(entry->d_name, prefix)) remove_if_stale(folder + "/" + entry->d_name);
  } catch (const std::bad_alloc&) {
    // A stale name more is no reason to fail.
  }
}

void remove_unpublished_files() noexcept {
  const int error = errno;
  for (Slot& slot : slots) {
    int expected = Slot::kArmed;
    if (slot.state.compare_exchange_strong(expected, Slot::kGone)) ::unlink(slot.path.data());
  }
  errno = error;
}

}  // namespace hetsort::io
