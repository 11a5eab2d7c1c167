// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Publication of one output: all of it appears under its name at once, or nothing does and the old file stays.
//
// A regular or absent target is written aside, in its own folder, into a file without a name (O_TMPFILE), so that any
// death of the process leaves nothing; where the file system cannot do that, under a part's name (part_name.h).
// Publishing cuts the file to its size, syncs it, gives it the target's permissions and links it in place: directly
// when no file has its name, else under a part's name that is then renamed over the target. Symbolic links are followed
// first: the file behind them is what is replaced. The folder stays open from the start: the output appears in it even
// if it was renamed meanwhile, and never behind a link that took its name. The output may be one of the inputs, whose
// bytes live on in the descriptors that read them.
//
// Anything else that exists (a device, a pipe, /dev/stdout) is written directly, as a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/file.h"
#include "io/part_name.h"

namespace hetsort::io {

/// How an output waits for its publication.
enum class Staging : std::uint8_t {
  kNameless,  ///< a file without a name where the file system has such files: any death of the process leaves nothing
  kNamed,     ///< a part file, so that other processes can write to it too
  kKept,      ///< a part file that stays after keep() when the process ends, so that a later one continues
};

/// What another process, perhaps on another host, needs in order to write to an output that is staged as a part file.
struct Invitation {
  std::string folder;  ///< absolute
  std::string part;    ///< name of the part file in this folder
  std::string nonce;   ///< the staged file's first bytes, until records overwrite them
  unsigned user = 0;   ///< the file's owner and permissions, as the inviting process sees them
  unsigned mode = 0;
};

/// An output that is not published yet. Destroying it unpublished leaves the target as it was and no file behind.
/// Movable, not copyable. Thread safety: one thread at a time; file() may be written by any.
class OutputFile {
 public:
  /// Checks all that can be known before writing: the folder exists and may be written, the target is no directory, may
  /// be written and may be replaced. Opening a pipe waits for its reader. Removes what dead runs left of `path`.
  /// Throws: Error naming `path` and the reason.
  /// `kept`: name of the part file of an earlier process that is to be continued, for Staging::kKept; empty = none.
  explicit OutputFile(const std::string& path, Staging staging = Staging::kNameless, const std::string& kept = "");

  /// Where to write; its name in messages is the path as given. Opened for reading and writing when staged.
  const File& file() const { return file_; }
  /// False for a target that is written directly: then only as a stream, with file().write().
  bool is_staged() const { return staged_; }
  const std::string& path() const { return path_; }
  /// The name of its part file in folder() after keep(); empty without one.
  std::string kept_name() const { return part_.kept_name(); }
  /// Lets the part file stay if the process ends. Requires: Staging::kKept. Throws: Error.
  void keep() { part_.stay(); }
  /// The folder, absolute, in which the output is staged and will appear.
  const std::string& folder() const { return folder_.name(); }
  /// Lets other processes join: writes a nonce into the file, by which they recognize it. Requires: Staging::kNamed;
  /// nothing is written yet; set_final_size() follows. Throws: Error.
  Invitation invite() const;

  /// Passes what is written as a stream through a filter.
  void write_through(std::unique_ptr<WriteFilter> filter) { file_.write_through(std::move(filter)); }
  /// Sets the size of the output, if more bytes were reserved or written (padded blocks) than belong to it. By default
  /// the size is that of the file.
  void set_final_size(std::uint64_t bytes) { final_size_bytes_ = bytes; }
  /// An output whose name is new gets mode 0600 instead of one that follows the umask.
  void set_owner_only() { owner_only_ = true; }
  /// The first half of publish(): sets size and permissions and, with `sync`, brings the bytes to the disk. The target
  /// stays as it was. Call it before publish(), with the same `sync`, if several outputs are published together. The
  /// permissions are those of the target, including owner and group where the process may set them; without a target
  /// they follow the umask. Throws: Error.
  void prepare(bool sync);
  /// Makes the output appear. With `sync`, bytes and name survive a power failure. A target that is written directly is
  /// only synced and closed. Afterwards file() is closed. Throws: Error; the target is then as it was, except if the
  /// folder could not be synced after an existing target was replaced: the message then says that the output is in
  /// place.
  void publish(bool sync);

 private:
  void stage(Staging staging);
  void stage_kept(const std::string& kept);
  void copy_permissions() const;
  void link_into_place();
  void replace();
  void rename_part();
  void sync_folder(const File& folder, bool replaced) const;

  std::string path_;  // the path as given
  File folder_;       // folder of the file behind all links
  std::string name_;  // name of that file in folder_
  bool staged_ = false;
  bool prepared_ = false;
  bool owner_only_ = false;
  bool exists_ = false;  // a regular target was there when we looked
  unsigned existing_mode_ = 0;
  unsigned existing_user_ = 0;
  unsigned existing_group_ = 0;
  std::optional<std::uint64_t> final_size_bytes_;
  // The order matters: members are destroyed in reverse, so the name is removed before the file is closed and unlocked.
  File file_;
  PartName part_;
};

/// A part file that another process staged, opened for writing parts of the output here. If that process dies, a signal
/// to this one removes the name. Movable, not copyable.
class JoinedOutput {
 public:
  JoinedOutput() = default;
  /// `path`: the output's, for messages. Opens the part only if it is the file that the owner made: with its nonce,
  /// owner and permissions, and no other name. Throws: Error, also when `path` is not on the same storage here.
  JoinedOutput(const Invitation& invitation, const std::string& path);
  JoinedOutput(JoinedOutput&&) noexcept = default;
  JoinedOutput& operator=(JoinedOutput&&) noexcept = default;
  ~JoinedOutput() { part_.forget(); }

  const File& file() const { return file_; }
  /// Brings what was written here to the disk, with `sync`, else to the file's server. Throws: Error.
  void prepare(bool sync);
  /// Closes the file; from now on the name is its owner's alone. Throws: Error.
  void leave();

 private:
  File file_;
  PartName part_;
};

/// Stdout as a stream that is not closed: an output that is written directly.
File standard_output();

/// Whether no output of this process is in place, even in part: none is being published, and none is written directly.
/// Async-signal-safe.
bool output_is_untouched() noexcept;

}  // namespace hetsort::io
