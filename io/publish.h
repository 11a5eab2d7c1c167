// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Publication of one output: all of it appears under its name at once, or nothing does and what stood there stays.
//
// A regular or absent target is written aside, in its own folder, into a file without a name (O_TMPFILE), so that any
// death of the process leaves nothing; where the file system cannot do that, under a part's name (part_name.h).
// Publishing cuts the file to its size, syncs it, gives it the target's permissions and links it in place: directly
// when nothing stands there, else under a part's name that is then renamed over the target. Symbolic links are followed
// first: the file behind them is what is replaced. The output may be one of the inputs, whose bytes live on in the
// descriptors that read them.
//
// Anything else that exists (a device, a pipe, /dev/stdout) is written directly, as a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/file.h"
#include "io/part_name.h"

namespace hetsort::io {

/// How an output waits for its publication.
enum class Staging : std::uint8_t {
  kNameless,  ///< without a name where the file system can do that: any death of the process leaves nothing
  kNamed,     ///< under a part's name, so that other processes can write to it too
};

/// Movable, not copyable. Destroying it unpublished leaves the target as it was and no file behind.
/// Thread safety: one thread at a time; file() may be written by any.
class OutputFile {
 public:
  /// Checks all that can be known before writing: the folder exists and lets us write, the target is no directory,
  /// may be written and may be replaced. Opening a pipe waits for its reader. Removes what dead runs left of `path`.
  /// Throws: Error naming `path` and the reason.
  explicit OutputFile(const std::string& path, Staging staging = Staging::kNameless);

  /// Where to write; its name in messages is the path as given. Opened for reading and writing when staged.
  const File& file() const { return file_; }
  /// False for a target that is written directly: then only as a stream, with file().write().
  bool is_staged() const { return staged_; }
  const std::string& path() const { return path_; }
  /// The folder, absolute, in which the output is staged and will appear.
  const std::string& folder() const { return folder_; }
  /// The name it is staged under; empty without one.
  const std::string& part_path() const { return part_.path(); }

  /// The output's size, when more was reserved or written (padded blocks) than belongs to it. Default: as written.
  void set_final_size(std::uint64_t bytes) { final_size_bytes_ = bytes; }
  /// First half of publish(): size, permissions and, with `sync`, the bytes to disk; the target stays as it was. For
  /// several outputs that are to be published together, with the same `sync` both times. Permissions are those of the
  /// target (its owner and group too where we may give them away), else what the umask leaves. Throws: Error.
  void prepare(bool sync);
  /// Makes the output appear; with `sync` bytes and name survive a power failure. A target written directly is only
  /// synced and closed. Afterwards file() is closed. Throws: Error, and the target is as it was, with one exception: if
  /// an existing target was replaced and the folder could not be synced after, the message says that it is in place.
  void publish(bool sync);

 private:
  void stage(Staging staging);
  void stage_named();
  void copy_permissions() const;
  void link_into_place();
  void replace();
  void sync_folder(const File& folder, bool replaced) const;

  std::string path_;    // as given
  std::string target_;  // behind all links, absolute
  std::string folder_;
  std::string name_;
  bool staged_ = false;
  bool prepared_ = false;
  bool exists_ = false;  // a regular target stood there when we looked
  unsigned existing_mode_ = 0;
  unsigned existing_user_ = 0;
  unsigned existing_group_ = 0;
  std::optional<std::uint64_t> final_size_bytes_;
  // In this order: a file is closed, and with that unlocked, only after its name is gone.
  File file_;
  PartName part_;
};

/// An output that another process staged under a name, for writing parts of it here. If that process dies, a signal to
/// this one removes the name. Movable, not copyable.
class JoinedOutput {
 public:
  JoinedOutput() = default;
  /// `part_path`: the owner's OutputFile::part_path(); `path`: the output's, for messages. Throws: Error.
  JoinedOutput(const std::string& part_path, const std::string& path);
  JoinedOutput(JoinedOutput&&) noexcept = default;
  JoinedOutput& operator=(JoinedOutput&&) noexcept = default;
  ~JoinedOutput() { part_.forget(); }

  const File& file() const { return file_; }
  /// Brings what was written here to the disk, with `sync`, and closes. Throws: Error.
  void prepare(bool sync);
  /// From now on the name is its owner's alone.
  void leave() { part_.forget(); }

 private:
  File file_;
  PartName part_;
};

/// Whether this process has begun to let an output appear: then it may be in place. Async-signal-safe.
bool publication_has_begun() noexcept;

/// Removes the names of unpublished outputs of this process, for a handler of SIGINT or SIGTERM that then ends the
/// process. Async-signal-safe. Outputs without a name need nothing.
void remove_unpublished_files() noexcept;

}  // namespace hetsort::io
