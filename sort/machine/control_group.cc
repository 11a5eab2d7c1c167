// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/control_group.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace hetsort::sort {

namespace {

// Version 1 writes "no limit" as the largest multiple of a page; nothing near it is a real limit.
constexpr std::uint64_t kNoLimitBytes = std::uint64_t{1} << 62;

// The kernel slows processes down that use more than memory.high, so this is a limit for a sort, too.
constexpr std::array<const char*, 2> kFilesOfTwo{"memory.max", "memory.high"};
constexpr std::array<const char*, 1> kFilesOfOne{"memory.limit_in_bytes"};

/// Whether a comma-separated list holds `word`.
bool lists(const std::string& list, std::string_view word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');)
    if (each == word) return true;
  return false;
}

/// Undoes the octal escapes (\040 for a blank) of mountinfo.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() && std::from_chars(digits, digits + 3, code, 8).ptr == digits + 3) {
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_inside(const std::string& path, const std::string& root) {
  return path.starts_with(root) && (path.size() == root.size() || root.ends_with('/') || path[root.size()] == '/');
}

void lower(std::optional<std::uint64_t>& limit, const std::optional<std::string>& text) {
  const auto found = text ? parse_memory_limit(*text) : std::nullopt;
  if (found) limit = std::min(limit.value_or(*found), *found);
}

/// The limit of the groups above, including those that a container does not see; version 1 only.
std::optional<std::string> hierarchical_limit(const std::string& folder) {
  const auto text = read_small_file(folder + "/memory.stat");
  std::istringstream lines(text.value_or(""));
  for (std::string name, value; lines >> name >> value;)
    if (name == "hierarchical_memory_limit") return value;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return std::nullopt;
  return text;
}

std::vector<ControlGroup> parse_control_groups(const std::string& text, std::string_view controller) {
  std::vector<ControlGroup> groups;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A line is NUMBER:CONTROLLERS:PATH, and PATH may hold colons. Version 2 is number 0 without controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty() && line.starts_with("0:")) groups.push_back({ControlGroup::Version::kTwo, path});
    if (lists(controllers, controller)) groups.push_back({ControlGroup::Version::kOne, path});
  }
  return groups;
}

std::vector<ControlGroupMount> parse_control_group_mounts(const std::string& text, std::string_view controller) {
  std::vector<ControlGroupMount> mounts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A line is ID PARENT DEVICE ROOT PLACE OPTIONS [TAGS...] - TYPE SOURCE SUPER_OPTIONS
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::string id, parent, device, root, place, type, source, options;
    std::istringstream(line.substr(0, dash)) >> id >> parent >> device >> root >> place;
    std::istringstream(line.substr(dash + 3)) >> type >> source >> options;
    if (type == "cgroup2") mounts.push_back({ControlGroup::Version::kTwo, unescaped(root), unescaped(place)});
    if (type == "cgroup" && lists(options, controller))
      mounts.push_back({ControlGroup::Version::kOne, unescaped(root), unescaped(place)});
  }
  return mounts;
}

std::vector<std::string> folders_of_group(const ControlGroup& group, const ControlGroupMount& mount) {
  std::string below;  // path of the group under the mount's root: "" or "/a/b"
  if (is_inside(group.path, mount.root)) below = group.path.substr(mount.root == "/" ? 0 : mount.root.size());
  // The group may lie outside the mount ("/../other", or in another container's view). Then only the mount's root is
  // visible.
  if (below.find("..") != std::string::npos) below.clear();
  std::vector<std::string> folders;
  while (!below.empty() && below != "/") {
    folders.push_back(mount.place + below);
    below.resize(below.rfind('/'));
  }
  folders.push_back(mount.place);
  return folders;
}

std::optional<std::uint64_t> parse_memory_limit(const std::string& text) {
  std::uint64_t bytes = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const bool whole = status == std::errc() && (end == text.data() + text.size() || *end == '\n');
  if (!whole || bytes >= kNoLimitBytes) return std::nullopt;
  return bytes;
}

std::vector<ControlGroupFolder> control_group_folders(std::string_view controller, const KernelFiles& files) {
  const auto groups = parse_control_groups(read_small_file(files.proc + "/self/cgroup").value_or(""), controller);
  auto mounts = parse_control_group_mounts(read_small_file(files.proc + "/self/mountinfo").value_or(""), controller);
  std::vector<ControlGroupFolder> folders;
  for (ControlGroupMount& mount : mounts) {
    mount.place.insert(0, files.mounts_below);
    for (const ControlGroup& group : groups) {
      if (group.version != mount.version) continue;
      for (std::string& path : folders_of_group(group, mount)) folders.push_back({group.version, std::move(path)});
    }
  }
  return folders;
}

std::optional<std::uint64_t> control_group_memory_limit(const KernelFiles& files) {
  std::optional<std::uint64_t> limit;
  for (const auto& [version, folder] : control_group_folders("memory", files)) {
    if (version == ControlGroup::Version::kTwo) {
      for (const char* file : kFilesOfTwo) lower(limit, read_small_file(folder + "/" + file));
    } else {
      for (const char* file : kFilesOfOne) lower(limit, read_small_file(folder + "/" + file));
      lower(limit, hierarchical_limit(folder));
    }
  }
  return limit;
}

}  // namespace hetsort::sort
