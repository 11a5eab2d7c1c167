// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What kind of storage stands behind a file or folder.
#pragma once

#include <cstdint>
#include <string>

namespace hetsort::io {

enum class Storage : std::uint8_t {
  kDisk,     ///< anything not known to be one of the others
  kMemory,   ///< tmpfs, ramfs: what is stored there takes memory
  kNetwork,  ///< NFS, SMB, Ceph, 9p and the like
};

/// Asks the file system of an open file; kDisk when it does not answer.
Storage storage_of(int descriptor);
/// The same of a path.
Storage storage_of(const std::string& path);

/// A size for people: "512 bytes", "3.1 GiB"; one digit behind the point, powers of 1024.
std::string human_size(std::uint64_t bytes);

}  // namespace hetsort::io
