// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The name an output has before it is published, ".NAME.hetsort-PID.part" beside its target. Such a name is
//   - removed by its owner, by the signal handler, or, when its owner died, by the next run that writes the same
//   target;
//   - known to be in use by the lock (flock) that its owner holds on the file: a name whose file can be locked is
//   stale.
// Internal to io/; see publish.h.
#pragma once

#include <string>

namespace hetsort::io {

/// Owner of one such name. Removes the name when destroyed, unless it was renamed away. Movable, not copyable.
/// Thread safety: one thread at a time; different names from any threads.
class PartName {
 public:
  PartName() = default;
  PartName(PartName&& other) noexcept;
  PartName& operator=(PartName&& other) noexcept;
  ~PartName();

  /// Takes a name for the target `folder`/`name` that no other part of this process has; `attempt` tells apart the
  /// names tried one after the other. From here on a signal removes it. Returns an empty PartName when it is taken.
  static PartName reserve(const std::string& folder, const std::string& name, unsigned attempt);

  /// A name that another process reserved and will remove or rename: here a signal removes it too, until forget().
  static PartName adopt(const std::string& path);

  bool is_empty() const { return path_.empty(); }
  const std::string& path() const { return path_; }
  /// Removes the name now.
  void remove() noexcept;
  /// The name is gone, or was never ours: leave it alone.
  void forget() noexcept;

 private:
  std::string path_;
  int slot_ = -1;
};

/// Locks the open file as its owner's mark. A file system without locks is no error: then nobody removes it as stale.
void lock_part(int fd);

/// Removes the parts of `folder`/`name` whose owners are dead. What cannot be looked at stays.
void remove_stale_parts(const std::string& folder, const std::string& name) noexcept;

}  // namespace hetsort::io
