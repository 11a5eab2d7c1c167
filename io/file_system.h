// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The kind of storage of a file or folder.
#pragma once

#include <cstdint>
#include <string>

namespace hetsort::io {

enum class Storage : std::uint8_t {
  kDisk,     ///< anything not known to be one of the others
  kMemory,   ///< tmpfs, ramfs: files use memory
  kNetwork,  ///< NFS, SMB, Ceph, 9p and the like
};

/// The storage of an open file; kDisk if the file system does not report it.
Storage storage_of(int descriptor);
/// The storage of the file or folder at `path`.
Storage storage_of(const std::string& path);

/// A size as text: "512 bytes", "3.1 GiB"; one digit after the point, powers of 1024.
std::string human_size(std::uint64_t bytes);

}  // namespace hetsort::io
