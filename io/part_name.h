// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The name of an output before it is published: ".NAME.hetsort-NONCE.part" beside its target, NONCE being 128 random
// bits.
//   - Its owner or the signal handler removes it. If the owner died, the next run that writes the same target does.
//     ".NAME.hetsort-NONCE.kept" stays instead, so that a later process continues the output.
//   - Its owner holds a lock (flock) on the file. A name whose file can be locked by another process is stale.
// Names are looked up in an open folder, so the folder may be renamed meanwhile. Internal to io/; see publish.h.
#pragma once

#include <cstdint>
#include <string>

#include "io/file.h"

namespace hetsort::io {

/// Owner of one such name. Removes the name when destroyed, unless it was renamed away. Movable, not copyable.
/// Thread safety: one thread at a time; different names from any threads.
class PartName {
 public:
  PartName() = default;
  PartName(PartName&& other) noexcept;
  PartName& operator=(PartName&& other) noexcept;
  ~PartName();

  /// Makes a new random name for the target `name` in `folder`, which a signal removes from now on. Throws: Error.
  static PartName reserve(const File& folder, const std::string& name);

  /// The name of an existing file that stays: neither this object nor a signal removes it. Throws: Error.
  static PartName keep(const File& folder, const std::string& name);
  /// Whether `entry` may be a name that stays.
  static bool is_kept(const std::string& entry);
  /// The name after stay().
  std::string kept_name() const;
  /// Gives the file kept_name(), which stays. Throws: Error.
  void stay();

  /// Takes over a name that another process reserved and will remove or rename: a signal removes it, until forget().
  /// Throws: Error.
  static PartName adopt(const File& folder, const std::string& name);

  bool is_empty() const { return name_.empty(); }
  /// The name in its folder.
  const std::string& name() const { return name_; }
  /// The name with its folder.
  std::string path() const { return folder_.name() + "/" + name_; }
  /// Removes the name now.
  void remove() noexcept;
  /// Gives the name up without removing it: it is gone, or belongs to another process.
  void forget() noexcept;

 private:
  PartName(const File& folder, std::string name, bool stays = false);

  File folder_;
  std::string name_;
  bool stays_ = false;
  int entry_ = -1;
};

/// A part file: a new file under a part name, locked, for its owner alone to read and write.
struct PartFile {
  // The order matters: members are destroyed in reverse, so the name is removed before the file is closed and unlocked.
  File file;
  PartName name;
};

/// Creates a part file for the target `name` in `folder`; `shown` is its name in messages. Throws: Error.
PartFile create_part(const File& folder, const std::string& name, const std::string& shown);

/// Locks the open file to mark it as in use. A file system without locks is no error: there no file counts as stale.
void lock_part(int fd);

enum class Parts : std::uint8_t {
  kUsual,
  kKept,  ///< those that stay
};

/// Removes the part files of the target `name` in `folder` whose owners are dead. Files that cannot be inspected stay.
void remove_stale_parts(const File& folder, const std::string& name, Parts parts = Parts::kUsual) noexcept;

/// Removes the names of unpublished outputs of this process, for a handler of SIGINT or SIGTERM that then ends the
/// process. Async-signal-safe. Outputs without a name need nothing.
void remove_unpublished_files() noexcept;

}  // namespace hetsort::io
