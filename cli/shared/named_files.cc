// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/named_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "cli/options/options.h"
#include "cli/shared/messages.h"
#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "sort/input/rank_path.h"

namespace hetsort::cli {

namespace {

namespace fs = std::filesystem;

/// A file, or the place where one would be created.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;      ///< inode of the file, or of the folder if there is no file yet
  std::string name{};   ///< name of the file in that folder; empty if the file exists
  bool shared = false;  ///< a terminal or socket: reading and writing it do not disturb each other

  auto key() const { return std::tie(device, inode, name); }
  bool operator<(const Identity& other) const { return key() < other.key(); }
};

/// Any number of writers may write to /dev/null and similar devices.
bool is_memory_device(const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1;
  return S_ISCHR(status.st_mode) && major(status.st_rdev) == kMemoryDevices;
}

bool find_status(const fs::path& path, struct stat& into) {
  return io::retry_interrupted([&] { return io::syscalls::stat(path.c_str(), &into); }) == 0;
}

bool find_status(int descriptor, struct stat& into) {
  return io::retry_interrupted([&] { return io::syscalls::fstat(descriptor, &into); }) == 0;
}

std::optional<Identity> identity_of(const struct stat& status) {
  if (is_memory_device(status)) return std::nullopt;
  return Identity{
      .device = status.st_dev, .inode = status.st_ino, .shared = S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode)};
}

/// The end of a chain of links that leads to no file.
fs::path behind_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::error_code none;
  for (int links = 0; links < kMaxLinks && fs::is_symlink(fs::symlink_status(path, none)); ++links)
    path = path.parent_path() / fs::read_symlink(path, none);
  return path;
}

/// The identity of a file. None for what cannot be compared: a memory device, or a place that does not exist, which an
/// error reports when it is opened.
std::optional<Identity> identity_of(const std::string& path, bool written) {
  struct stat status {};
  if (path == "-") {
    if (!find_status(written ? STDOUT_FILENO : STDIN_FILENO, status)) return std::nullopt;
    return identity_of(status);
  }
  if (find_status(path, status)) return identity_of(status);
  std::error_code error;
  fs::path place = behind_links(fs::absolute(path, error));
  if (!find_status(place.parent_path(), status)) {
    place = place.lexically_normal();
    if (find_status(place, status)) return identity_of(status);
    if (!find_status(place.parent_path(), status)) return std::nullopt;
  }
  return Identity{.device = status.st_dev, .inode = status.st_ino, .name = place.filename()};
}

std::string with_rank(std::string path, int rank) {
  for (std::size_t at = path.find(sort::kRankPlace); at != std::string::npos; at = path.find(sort::kRankPlace, at))
    path.replace(at, sort::kRankPlace.size(), std::to_string(rank));
  return path;
}

/// One name of a file, for one rank.
struct Use {
  std::string role;
  std::string path;
  bool written;
  bool replaceable;  ///< an input that the command's output may replace
  bool replaces;     ///< the output that may replace it
};

bool conflicts_alike(const Use& one, const Use& other) {
  return one.written == other.written && one.replaceable == other.replaceable && one.replaces == other.replaces;
}

void refuse_conflict(const Use& one, const Use& other, bool shared) {
  if (one.written && other.written)
    throw UsageError(fmt::format("{} and {} both name {}: each wants a file of its own", one.role, other.role,
                                 other.path == "-" ? one.path : other.path));
  if (shared || one.written == other.written) return;
  const Use& writer = one.written ? one : other;
  const Use& reader = one.written ? other : one;
  if (writer.replaces && reader.replaceable) return;
  if (writer.path == "-") throw UsageError(fmt::format("{} is also {}", writer.role, reader.role));
  throw UsageError(
      fmt::format("{} names {}, which is also {}: it would be replaced", writer.role, writer.path, reader.role));
}

}  // namespace

void NamedFiles::add(const std::string& role, const std::string& path, Purpose purpose) {
  if (!path.empty()) names_.push_back({role, path, purpose});
}

void NamedFiles::check(const comm::Communicator& ranks) const {
  std::map<Identity, std::vector<Use>> uses;
  const auto add = [&](const Name& name, const std::string& role, const std::string& path) {
    const bool written = name.purpose == Purpose::kWrite || name.purpose == Purpose::kOutput;
    const std::optional<Identity> file = identity_of(path, written);
    if (!file) return;
    if (written && is_standard_error(path)) limit_talk(Talk::kErrors);
    if (name.purpose == Purpose::kOutput && path == "-" && ranks.launched()) limit_talk(Talk::kOnlyAsked);
    const Use use{role, path, written, name.purpose == Purpose::kInput, name.purpose == Purpose::kOutput};
    std::vector<Use>& others = uses[*file];
    for (const Use& other : others) refuse_conflict(other, use, file->shared);
    // A file may be named thousands of times: uses that conflict with the same others are kept once.
    if (std::ranges::none_of(others, [&](const Use& other) { return conflicts_alike(other, use); }))
      others.push_back(use);
  };
  for (const Name& name : names_) {
    if (!ranks.launched() || !sort::is_rank_path(name.path)) {
      add(name, name.role, name.path);
      continue;
    }
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (ranks.rank() == 0 || ranks.host(rank) == ranks.host())
        add(name, fmt::format("{} of rank {}", name.role, rank), with_rank(name.path, rank));
  }
}

bool NamedFiles::is_standard_error(const std::string& path) {
  struct stat status {};
  if (!find_status(STDERR_FILENO, status) || S_ISCHR(status.st_mode)) return false;
  const std::optional<Identity> messages = identity_of(status);
  const std::optional<Identity> file = identity_of(path, true);
  return messages && file && messages->key() == file->key();
}

std::string NamedFiles::rank_note(const comm::Communicator& ranks) const {
  if (ranks.launched()) return "";
  const auto found = std::ranges::find_if(names_, [](const Name& name) { return sort::is_rank_path(name.path); });
  if (found == names_.end()) return "";
  return fmt::format("{} {}: {{rank}} stays in the name, because no launcher (such as mpirun) started this process",
                     found->role, found->path);
}

void refuse_terminal(const std::string& path, std::string_view instead) {
  struct stat status {};
  if (path != "-" && (!find_status(path, status) || !S_ISCHR(status.st_mode))) return;
  const auto open = [&] { return io::syscalls::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK, 0); };
  const int fd = path == "-" ? STDOUT_FILENO : io::retry_interrupted(open);
  const bool terminal = fd >= 0 && ::isatty(fd) == 1;
  if (fd > STDERR_FILENO) ::close(fd);
  if (terminal)
    throw UsageError(fmt::format("{} is a terminal, and records are not text; give {}, or pipe them on, as in '| cat'",
                                 path == "-" ? "standard output" : path, instead));
}

std::string one_file(const std::string& role, const std::string& path, bool stream) {
  if (path.empty()) throw UsageError(fmt::format("{} wants a path", role));
  if (path == "-" && !stream) throw UsageError(fmt::format("{} wants a file, not '-'", role));
  if (sort::is_rank_path(path))
    throw UsageError(fmt::format("{} {}: rank 0 has this file for all ranks: no {}", role, path, sort::kRankPlace));
  return path;
}

}  // namespace hetsort::cli
