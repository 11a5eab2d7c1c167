// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/named_files.h"

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

#include "job/request_error.h"
#include "sort/input/rank_path.h"

namespace hetsort::job {

namespace {

namespace fs = std::filesystem;

/// A file, or the place where one would be created.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;      ///< of the folder if there is no file yet
  std::string name{};   ///< in that folder; empty if the file exists
  bool shared = false;  ///< a terminal or socket: reading and writing it do not disturb each other

  auto key() const { return std::tie(device, inode, name); }
  bool operator<(const Identity& other) const { return key() < other.key(); }
};

/// Any number of writers may write to /dev/null and similar devices.
bool is_memory_device(const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1;
  return S_ISCHR(status.st_mode) && major(status.st_rdev) == kMemoryDevices;
}

std::optional<Identity> identity_of(const struct stat& status) {
  if (is_memory_device(status)) return std::nullopt;
  return Identity{
      .device = status.st_dev, .inode = status.st_ino, .shared = S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode)};
}

/// Where a chain of links that leads to no file ends.
fs::path behind_links(fs::path path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::error_code none;
  for (int links = 0; links < kMaxLinks && fs::is_symlink(fs::symlink_status(path, none)); ++links)
    path = path.parent_path() / fs::read_symlink(path, none);
  return path;
}

/// None for what cannot be compared: a memory device, or a place that does not exist, which opening it reports.
std::optional<Identity> identity_of(const std::string& path, bool written) {
  struct stat status {};
  if (path == "-") {
    if (::fstat(written ? STDOUT_FILENO : STDIN_FILENO, &status) != 0) return std::nullopt;
    return identity_of(status);
  }
  if (::stat(path.c_str(), &status) == 0) return identity_of(status);
  std::error_code error;
  fs::path place = behind_links(fs::absolute(path, error));
  if (::stat(place.parent_path().c_str(), &status) != 0) {
    place = place.lexically_normal();
    if (::stat(place.c_str(), &status) == 0) return identity_of(status);
    if (::stat(place.parent_path().c_str(), &status) != 0) return std::nullopt;
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
  bool replaces;     ///< that output
};

void refuse_conflict(const Use& one, const Use& other, bool shared) {
  if (one.written && other.written)
    throw RequestError(fmt::format("{} and {} both name {}: each wants a file of its own", one.role, other.role,
                                   other.path == "-" ? one.path : other.path));
  if (shared || one.written == other.written) return;
  const Use& writer = one.written ? one : other;
  const Use& reader = one.written ? other : one;
  if (writer.replaces && reader.replaceable) return;
  if (writer.path == "-") throw RequestError(fmt::format("{} is also {}", writer.role, reader.role));
  throw RequestError(
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
    const Use use{role, path, written, name.purpose == Purpose::kInput, name.purpose == Purpose::kOutput};
    std::vector<Use>& others = uses[*file];
    for (const Use& other : others) refuse_conflict(other, use, file->shared);
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

std::string NamedFiles::rank_note(const comm::Communicator& ranks) const {
  if (ranks.launched()) return "";
  const auto found = std::ranges::find_if(names_, [](const Name& name) { return sort::is_rank_path(name.path); });
  if (found == names_.end()) return "";
  return fmt::format("{} {}: {{rank}} stays in the name, because no launcher (such as mpirun) started this process",
                     found->role, found->path);
}

void refuse_terminal(const std::string& path, std::string_view instead) {
  struct stat status {};
  if (path != "-" && (::stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode))) return;
  const int fd = path == "-" ? STDOUT_FILENO : ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  const bool terminal = fd >= 0 && ::isatty(fd) == 1;
  if (fd > STDERR_FILENO) ::close(fd);
  if (terminal)
    throw RequestError(
        fmt::format("{} is a terminal, and records are not text; give {}, or pipe them on, as in '| cat'",
                    path == "-" ? "standard output" : path, instead));
}

std::string one_file(const std::string& role, const std::string& path, bool stream) {
  if (path.empty()) throw RequestError(fmt::format("{} wants a path", role));
  if (path == "-" && !stream) throw RequestError(fmt::format("{} wants a file, not '-'", role));
  if (sort::is_rank_path(path))
    throw RequestError(fmt::format("{} {}: rank 0 has this file for all ranks: no {}", role, path, sort::kRankPlace));
  return path;
}

}  // namespace hetsort::job
