// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The control groups the process is in, of both versions. Internal to sort/machine; see memory_budget.h and
// processor_quota.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::sort {

/// The places of the kernel's files; tests use other places.
struct KernelFiles {
  std::string proc = "/proc";  ///< folder that holds meminfo and self/
  std::string mounts_below;    ///< prefix of the mount points in self/mountinfo
};

/// The process's group in the hierarchy of a controller.
struct ControlGroup {
  enum class Version : std::uint8_t { kOne, kTwo };
  Version version = Version::kTwo;
  std::string path;  ///< path as in /proc/self/cgroup
};

/// A mount of such a hierarchy.
struct ControlGroupMount {
  ControlGroup::Version version = ControlGroup::Version::kTwo;
  std::string root;   ///< the group that the mount shows as its top
  std::string place;  ///< the mount point
};

/// The folder in which the kernel shows one group.
struct ControlGroupFolder {
  ControlGroup::Version version = ControlGroup::Version::kTwo;
  std::string path;
};

/// The groups of this controller, of version 1 and of version 2, in the text of /proc/self/cgroup.
std::vector<ControlGroup> parse_control_groups(const std::string& text, std::string_view controller);
/// The mounts of this controller's hierarchies, in the text of /proc/self/mountinfo.
std::vector<ControlGroupMount> parse_control_group_mounts(const std::string& text, std::string_view controller);
/// The folders of a group under a mount, its own first, the mount point last.
std::vector<std::string> folders_of_group(const ControlGroup& group, const ControlGroupMount& mount);
/// The folders of this controller for the process's own groups and all visible groups above.
std::vector<ControlGroupFolder> control_group_folders(std::string_view controller, const KernelFiles& files);
/// A limit as the kernel writes it; nullopt for "max", for the "no limit" of version 1, and for text that is no number.
std::optional<std::uint64_t> parse_memory_limit(const std::string& text);

/// The smallest limit of all groups the process is in, in bytes.
std::optional<std::uint64_t> control_group_memory_limit(const KernelFiles& files);

/// All of a small file; nullopt when it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);

}  // namespace hetsort::sort
