// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/target.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/error.h"

namespace hetsort::io {

namespace {

constexpr int kMaxLinks = 40;  // the kernel's own limit

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string real_path(const std::string& path) {
  char* found = nullptr;
  retry_interrupted([&] { return (found = ::realpath(path.c_str(), nullptr)) != nullptr ? 0 : -1; });
  const std::unique_ptr<char, decltype(&std::free)> real(found, std::free);
  return real ? std::string(real.get()) : path;
}

/// Opens the place `path` without opening what is there. Returns a closed File when nothing is.
File open_place(const std::string& path, int flags, const std::string& given) {
  const int fd = retry_interrupted([&] { return syscalls::open(path.c_str(), O_PATH | flags, 0); });
  if (fd >= 0) return File(fd, given);
  if (errno == ENOENT) return {};
  throw Error("write", given, errno);
}

/// `shown`: its name in messages.
struct stat status_of(const File& place, const std::string& shown) {
  struct stat status {};
  if (retry_interrupted([&] { return syscalls::fstat(place.descriptor(), &status); }) != 0)
    throw Error("stat", shown, errno);
  return status;
}

bool is_on_procfs(const File& place) {
  struct statfs system {};
  return retry_interrupted([&] { return ::fstatfs(place.descriptor(), &system); }) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

/// Where a chain of symbolic links ends: a path that is no link, or a link in /proc to an open file.
struct End {
  std::string path;
  bool is_open_file = false;
};

End follow_links(std::string path, const std::string& given) {
  for (int links = 0; links < kMaxLinks; ++links) {
    const File place = open_place(path, O_NOFOLLOW, given);
    if (!place.is_open() || !S_ISLNK(status_of(place, given).st_mode)) return {path, false};
    if (is_on_procfs(place)) return {path, true};
    std::array<char, PATH_MAX> text{};
    const ssize_t length =
        retry_interrupted([&] { return ::readlinkat(place.descriptor(), "", text.data(), text.size()); });
    if (length < 0) throw Error("write", given, errno);
    const std::string behind(text.data(), static_cast<std::size_t>(length));
    path = behind.starts_with('/') ? behind : folder_of(path) + "/" + behind;
  }
  throw Error("write", given, ELOOP);
}

/// The descriptor of this process that a path such as /proc/self/fd/1 names.
std::optional<int> own_descriptor(const std::string& path) {
  const std::string folder = real_path(folder_of(path));
  const std::string self = "/proc/" + std::to_string(::getpid());
  const bool own = folder == self + "/fd" || (folder.starts_with(self + "/task/") && folder.ends_with("/fd"));
  if (!own) return std::nullopt;
  const std::string name = name_of(path);
  int fd = -1;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (status != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return fd;
}

/// Writes to an open file go through a copy of its descriptor: at its position, and regardless of the permissions that
/// the file has now.
File open_direct(const End& end, const std::string& given) {
  const std::optional<int> descriptor = end.is_open_file ? own_descriptor(end.path) : std::nullopt;
  if (!descriptor) return File::open(given, O_WRONLY | O_NOCTTY, 0, "write");
  const int copy = ::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw Error("write", given, errno);
  File file(copy, given);
  if ((::fcntl(copy, F_GETFL) & O_ACCMODE) == O_RDONLY) throw Error("write", given, EBADF, "it is open for reading");
  return file;
}

/// Nothing can be renamed onto a file that is append-only or immutable, or in a folder that is.
void refuse_attributes(const struct statx& status, const std::string& given, const std::string& what) {
  const auto attributes = status.stx_attributes & status.stx_attributes_mask;
  if ((attributes & STATX_ATTR_APPEND) != 0) throw Error("replace", given, EPERM, what + " is append-only");
  if ((attributes & STATX_ATTR_IMMUTABLE) != 0) throw Error("replace", given, EPERM, what + " is immutable");
}

/// Returns false where the system does not know it.
bool extended_status(const File& file, struct statx& into) {
  return retry_interrupted([&] { return ::statx(file.descriptor(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &into); }) ==
         0;
}

/// Checks for what would make the rename fail after all the work: a mount point, or another user's file in a folder
/// such as /tmp.
void check_replaceable(const File& place, const struct stat& status, const File& folder) {
  struct statx extended {};
  if (extended_status(place, extended) && (extended.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    throw Error("replace", place.name(), EBUSY, "it is a mount point");
  refuse_attributes(extended, place.name(), "it");
  struct statx folder_extended {};
  if (extended_status(folder, folder_extended)) refuse_attributes(folder_extended, place.name(), "its folder");
  const struct stat around = status_of(folder, place.name());
  const uid_t user = ::geteuid();
  if ((around.st_mode & S_ISVTX) != 0 && user != 0 && user != status.st_uid && user != around.st_uid)
    throw Error("replace", place.name(), EPERM, "another user's file in a folder with the sticky bit");
}

File open_target_folder(const std::string& folder, const std::string& path) {
  const int fd = retry_interrupted([&] { return syscalls::open(folder.c_str(), O_PATH | O_DIRECTORY, 0); });
  if (fd < 0) throw Error("create", path, errno, "in folder " + folder);
  return {fd, folder};
}

}  // namespace

Target find_target(const std::string& path) {
  if (path.empty()) throw Error("write", "''", ENOENT);
  // The kernel follows the links once, so that its rules for links in shared folders apply.
  const File place = open_place(path, 0, path);
  const End end = follow_links(path, path);
  Target target;
  target.name = name_of(end.path);
  const std::string folder = real_path(folder_of(end.path));
  if (!place.is_open()) {
    if (target.name.empty()) throw Error("write", path, EISDIR);
    target.folder = open_target_folder(folder, path);
    return target;
  }
  const struct stat status = status_of(place, path);
  if (S_ISDIR(status.st_mode)) throw Error("write", path, EISDIR);
  if (!S_ISREG(status.st_mode) || end.is_open_file) {
    target.direct = open_direct(end, path);
    return target;
  }
  target.folder = open_target_folder(folder, path);
  const auto access = [&] { return syscalls::access_at(target.folder.descriptor(), target.name.c_str(), W_OK); };
  if (retry_interrupted(access) != 0) throw Error("write", path, errno);
  check_replaceable(place, status, target.folder);
  target.exists = true;
  target.mode = status.st_mode & 07777;
  target.user = status.st_uid;
  target.group = status.st_gid;
  return target;
}

File open_folder(const File& folder, const std::string& path) {
  const int fd =
      retry_interrupted([&] { return syscalls::open_at(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY, 0); });
  if (fd < 0 && errno != EACCES) throw Error("sync the folder of", path, errno);
  return fd < 0 ? File() : File(fd, folder.name());
}

unsigned current_umask() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("Umask:")) continue;
    return static_cast<unsigned>(std::strtoul(line.c_str() + 6, nullptr, 8));
  }
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

}  // namespace hetsort::io
