// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/inspect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "io/calls/system_calls.h"
#include "io/error.h"
#include "io/file.h"

namespace hetsort::sort {

namespace {

constexpr std::string_view kFront = "hetsort.";
constexpr std::string_view kEnd = ".journal";

/// The rank whose journal has this name; nothing for other files.
std::optional<int> rank_of(std::string_view name) {
  if (!name.starts_with(kFront) || !name.ends_with(kEnd) || name.size() <= kFront.size() + kEnd.size()) return {};
  name = name.substr(kFront.size(), name.size() - kFront.size() - kEnd.size());
  int rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc() || end != name.data() + name.size() || rank < 0) return {};
  return rank;
}

bool is_locked(const io::File& file) {
  if (::flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(file.descriptor(), LOCK_UN);
  return false;
}

/// What changed of an input since it was written down; empty if nothing did, as far as size and time show it.
std::string change_of(const SortFact& fact) {
  constexpr std::string_view kInput = "INPUT ";
  if (!fact.name.starts_with(kInput)) return {};
  const std::string path = fact.name.substr(kInput.size());
  struct stat status {};
  if (io::syscalls::stat(path.c_str(), &status) != 0) return fact.name + " is missing";
  const std::string now = fmt::format("{} bytes, modified {}, inode {},", status.st_size,
                                      status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec, status.st_ino);
  return fact.text.starts_with(now) ? "" : fact.name + " has changed";
}

void read_facts(const std::vector<std::string>& lines, CheckpointPart& part) {
  for (const std::string& line : lines) {
    LineWords words(line);
    const std::string_view kind = words.word();
    if (kind == "ranks") part.about.push_back({"ranks", std::to_string(words.number())});
    if (kind != "fact" && kind != "about") continue;
    std::string name = words.text();
    (kind == "fact" ? part.facts : part.about).push_back({std::move(name), words.text()});
  }
}

std::uint64_t disk_bytes(const std::string& folder, int rank) {
  std::uint64_t bytes = 0;
  const std::string front = fmt::format("hetsort.{}.", rank);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat status {};
    if (entry.path().filename().string().starts_with(front) && io::syscalls::stat(entry.path().c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

CheckpointPart inspect(const std::string& folder, int rank) {
  const io::File file = io::File::open_read(fmt::format("{}/hetsort.{}.journal", folder, rank));
  CheckpointPart part{.rank = rank, .disk_bytes = disk_bytes(folder, rank), .in_use = is_locked(file)};
  const std::vector<std::string> lines = read_journal(file);
  const std::optional<JournalHeader> header = lines.empty() ? std::nullopt : read_header(lines.front());
  read_facts(lines, part);
  if (!header || part.facts.size() != header->facts) {
    part.obstacle = "its journal is damaged, or another version wrote it";
    return part;
  }
  for (const SpilledRun& run : runs_of(lines)) {
    ++part.runs;
    part.run_bytes += run.records * header->record_bytes;
  }
  for (const std::string& line : lines) {
    LineWords words(line);
    const std::string_view kind = words.word();
    if (kind == "output") part.merged_bytes = 0;
    if (kind != "merged") continue;
    static_cast<void>(words.word());
    static_cast<void>(words.number());
    part.merged_bytes += words.number();
  }
  for (const SortFact& fact : part.facts)
    if (part.obstacle.empty()) part.obstacle = change_of(fact);
  return part;
}

}  // namespace

std::vector<CheckpointPart> inspect_checkpoint(const std::string& folder) {
  std::vector<int> ranks;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (const std::optional<int> rank = rank_of(entry.path().filename().string())) ranks.push_back(*rank);
  if (error) throw io::Error("open the checkpoint", folder, error.value());
  std::ranges::sort(ranks);
  std::vector<CheckpointPart> parts;
  parts.reserve(ranks.size());
  for (const int rank : ranks) parts.push_back(inspect(folder, rank));
  return parts;
}

}  // namespace hetsort::sort
