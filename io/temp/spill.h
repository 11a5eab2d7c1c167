// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Temporary space on disk: equal blocks in files, one file in each temp directory, striped. Nameless files are freed
// when the process ends, however it ends; files with names stay.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/temp/spill_packer.h"

namespace hetsort::io {

/// The place of a block on disk.
struct SpillPlace {
  const File* file = nullptr;
  std::uint64_t offset_bytes = 0;
};

/// All blocks of a sort's runs on this rank. Thread safety: any thread.
class SpillSpace {
 public:
  /// Creates one file in each directory; with `direct`, for direct I/O where the file system has it.
  /// Throws: Error naming a directory that is missing or not writable.
  SpillSpace(const std::vector<std::string>& directories, std::uint64_t block_bytes, bool direct);
  /// Takes files that have names, one for each directory, perhaps with blocks in them.
  SpillSpace(std::vector<File> files, std::uint64_t block_bytes, bool direct);
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;
  ~SpillSpace();

  std::uint64_t block_bytes() const { return block_bytes_; }
  /// Whether every file allows direct I/O.
  bool direct() const { return direct_; }
  /// Blocks are written in part from now on: no more disk space is taken than is written.
  void reserve_nothing() { reserves_ = false; }
  /// Reserves disk space for `blocks` blocks in all, so that a full disk shows before the work. Throws: Error.
  void reserve(std::uint64_t blocks);
  /// Takes a free block; released blocks come first. Reserves more space when the reserve is used up. Throws: Error.
  std::uint64_t take();
  /// Makes a block free for reuse.
  void release(std::uint64_t block);
  /// Sets which blocks are in use: exactly these. Requires: none was taken yet.
  void occupy(std::vector<std::uint64_t> blocks);
  SpillPlace place(std::uint64_t block) const;
  /// Brings all that was written to the disks. Throws: Error.
  void sync() const;
  /// What the packers of these blocks have found out.
  SpillPace& pace() { return pace_; }
  /// Counts bytes of a block that are not written.
  void save(std::uint64_t bytes);
  /// Bytes of all blocks taken so far, without those that were saved; a reused block counts each time.
  std::uint64_t taken_bytes() const;
  /// Disk space that all nameless files of the process have reserved. Async-signal-safe.
  static std::uint64_t bytes_in_use() noexcept;

 private:
  void reserve_locked(std::uint64_t blocks);

  std::uint64_t block_bytes_;
  bool nameless_ = true;
  bool direct_ = true;
  bool reserves_ = true;
  std::vector<File> files_;
  SpillPace pace_;
  mutable std::mutex mutex_;  // guards what follows
  std::uint64_t taken_ = 0;
  std::uint64_t saved_bytes_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t reserved_ = 0;
  std::vector<std::uint64_t> released_;
};

}  // namespace hetsort::io
