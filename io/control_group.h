// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory limit of the process's control groups. Internal to io/; see memory_budget.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hetsort::io {

struct MemorySources;

/// The process's group in the hierarchy that limits memory.
struct ControlGroup {
  enum class Version : std::uint8_t { kOne, kTwo };
  Version version = Version::kTwo;
  std::string path;  ///< as in /proc/self/cgroup
};

/// Where such a hierarchy is mounted.
struct ControlGroupMount {
  ControlGroup::Version version = ControlGroup::Version::kTwo;
  std::string root;   ///< the group that the mount shows as its top
  std::string place;  ///< the mount point
};

/// Those of the memory controller of version 1 and of version 2, from the text of /proc/self/cgroup.
std::vector<ControlGroup> parse_control_groups(const std::string& text);
/// The same of the text of /proc/self/mountinfo.
std::vector<ControlGroupMount> parse_control_group_mounts(const std::string& text);
/// The folders of a group under a mount, its own first, the mount point last.
std::vector<std::string> folders_of_group(const ControlGroup& group, const ControlGroupMount& mount);
/// A limit as the kernel writes it: nullopt for "max", for version 1's "no limit" and for what is no number.
std::optional<std::uint64_t> parse_memory_limit(const std::string& text);

/// The smallest limit of all groups the process is in, in bytes.
std::optional<std::uint64_t> control_group_memory_limit(const MemorySources& sources);

/// All of a small file; nullopt when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

}  // namespace hetsort::io
