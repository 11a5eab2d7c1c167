// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/part_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/nonce.h"

namespace hetsort::io {

namespace {

constexpr std::string_view kMark = ".hetsort-";
constexpr std::string_view kEnd = ".part";
constexpr std::string_view kKeptEnd = ".kept";
static_assert(kEnd.size() == kKeptEnd.size());
// Maximum bytes of the target's name in a part name. Leaves room for dot, mark, nonce and end within 255 bytes.
constexpr std::size_t kMaxNameBytes = 200;
static_assert(1 + kMaxNameBytes + kMark.size() + kNonceDigits + kEnd.size() <= NAME_MAX);
// A process that removes stale part files may take a new one for stale before it is locked, but not again and again.
constexpr unsigned kMaxAttempts = 100;

// One name that the signal handler removes. It goes free -> taken -> armed -> taken -> free; the handler moves it from
// armed to gone, where it stays, so that the handler never reads a name that is being written.
struct Entry {
  enum State : int { kFree, kTaken, kArmed, kGone };
  std::atomic<int> state{kFree};
  int folder = -1;  // its own descriptor
  std::array<char, NAME_MAX + 1> name{};
};
static_assert(std::atomic<int>::is_always_lock_free, "the signal handler may not lock");

// A process usually has one output, and one for each rank in simulated jobs. A name that finds no entry is removed by
// its owner only.
constexpr int kMaxEntries = 64;
std::array<Entry, kMaxEntries> entries;

int arm(int folder, const std::string& name) {
  if (name.size() > NAME_MAX) return -1;
  for (int i = 0; i < kMaxEntries; ++i) {
    int expected = Entry::kFree;
    if (!entries[i].state.compare_exchange_strong(expected, Entry::kTaken)) continue;
    entries[i].folder = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
    std::memcpy(entries[i].name.data(), name.c_str(), name.size() + 1);
    entries[i].state.store(Entry::kArmed, std::memory_order_release);
    return i;
  }
  return -1;
}

void disarm(int entry) noexcept {
  int expected = Entry::kArmed;
  if (entry < 0 || !entries[entry].state.compare_exchange_strong(expected, Entry::kTaken)) return;
  ::close(entries[entry].folder);
  entries[entry].state.store(Entry::kFree, std::memory_order_release);
}

std::string prefix_of(const std::string& name) {
  std::string prefix(1, '.');
  return prefix.append(name, 0, kMaxNameBytes).append(kMark);
}

/// Whether `entry` is a part name: the prefix, a nonce, the end.
bool is_part(std::string_view entry, std::string_view prefix, std::string_view end) {
  if (entry.size() != prefix.size() + kNonceDigits + end.size()) return false;
  if (!entry.starts_with(prefix) || !entry.ends_with(end)) return false;
  return entry.substr(prefix.size(), kNonceDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void remove_if_stale(int folder, const char* name) {
  const int fd =
      retry_interrupted([&] { return syscalls::open_at(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0); });
  if (fd < 0) return;
  struct stat opened {};
  struct stat named {};
  // Between open and lock the owner may have published the file, and another process may have taken the name: compare
  // before removing.
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0 && retry_interrupted([&] { return syscalls::fstat(fd, &opened); }) == 0 &&
      S_ISREG(opened.st_mode) && retry_interrupted([&] { return syscalls::stat_at(folder, name, &named); }) == 0 &&
      named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
    retry_interrupted([&] { return syscalls::unlink_at(folder, name); });
  ::close(fd);
}

/// A descriptor of the same folder, owned by the caller. Throws: Error.
File copy_of(const File& folder) {
  const int copy = ::fcntl(folder.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw Error("open", folder.name(), errno);
  return {copy, folder.name()};
}

}  // namespace

PartName::PartName(const File& folder, std::string name, bool stays)
    : folder_(copy_of(folder)), name_(std::move(name)), stays_(stays) {
  if (!stays_) entry_ = arm(folder_.descriptor(), name_);
}

PartName::PartName(PartName&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::exchange(other.name_, {})),
      stays_(other.stays_),
      entry_(std::exchange(other.entry_, -1)) {}

PartName& PartName::operator=(PartName&& other) noexcept {
  if (this != &other) {
    if (!stays_) remove();
    folder_ = std::move(other.folder_);
    name_ = std::exchange(other.name_, {});
    stays_ = other.stays_;
    entry_ = std::exchange(other.entry_, -1);
  }
  return *this;
}

PartName::~PartName() {
  if (!stays_) remove();
}

std::string PartName::kept_name() const {
  return stays_ || name_.empty() ? name_ : name_.substr(0, name_.size() - kEnd.size()).append(kKeptEnd);
}

void PartName::stay() {
  if (stays_ || name_.empty()) return;
  const std::string kept = kept_name();
  const int folder = folder_.descriptor();
  if (retry_interrupted([&] { return syscalls::rename_at(folder, name_.c_str(), kept.c_str()); }) != 0)
    throw Error("rename", path(), errno);
  disarm(std::exchange(entry_, -1));
  name_ = kept;
  stays_ = true;
}

PartName PartName::keep(const File& folder, const std::string& name) { return {folder, name, true}; }

bool PartName::is_kept(const std::string& entry) {
  return entry.starts_with('.') && entry.ends_with(kKeptEnd) && entry.find(kMark) != std::string::npos &&
         entry.find('/') == std::string::npos;
}

PartName PartName::adopt(const File& folder, const std::string& name) { return {folder, name}; }

PartName PartName::reserve(const File& folder, const std::string& name) {
  return {folder, prefix_of(name).append(make_nonce()).append(kEnd)};
}

void PartName::remove() noexcept {
  if (!name_.empty()) retry_interrupted([&] { return ::unlinkat(folder_.descriptor(), name_.c_str(), 0); });
  forget();
}

void PartName::forget() noexcept {
  disarm(std::exchange(entry_, -1));
  name_.clear();
}

PartFile create_part(const File& folder, const std::string& name, const std::string& shown) {
  constexpr unsigned kOwnerOnly = 0600;
  for (unsigned attempt = 0; attempt < kMaxAttempts; ++attempt) {
    PartName part = PartName::reserve(folder, name);
    const int fd = retry_interrupted([&] {
      return syscalls::open_at(folder.descriptor(), part.name().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                               kOwnerOnly);
    });
    if (fd < 0) {
      const int error = errno;
      part.forget();
      throw Error("create", shown, error, "in folder " + folder.name());
    }
    PartFile created{File(fd, shown), std::move(part)};
    lock_part(fd);
    struct stat now {};
    if (retry_interrupted([&] { return syscalls::fstat(fd, &now); }) != 0) throw Error("stat", shown, errno);
    if (now.st_nlink > 0) return created;
    created.name.forget();
  }
  throw Error("create", shown, EEXIST, "in folder " + folder.name());
}

void lock_part(int fd) {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

void remove_stale_parts(const File& folder, const std::string& name, Parts parts) noexcept {
  try {
    const std::string prefix = prefix_of(name);
    const int fd =
        retry_interrupted([&] { return ::openat(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
    if (!listing) return;
    while (const dirent* entry = ::readdir(listing.get()))
      if (is_part(entry->d_name, prefix, parts == Parts::kKept ? kKeptEnd : kEnd))
        remove_if_stale(folder.descriptor(), entry->d_name);
  } catch (const std::bad_alloc&) {
    // A stale name that remains does no harm.
  }
}

void remove_unpublished_files() noexcept {
  const int error = errno;
  for (Entry& entry : entries) {
    int expected = Entry::kArmed;
    if (entry.state.compare_exchange_strong(expected, Entry::kGone)) ::unlinkat(entry.folder, entry.name.data(), 0);
  }
  errno = error;
}

}  // namespace hetsort::io
