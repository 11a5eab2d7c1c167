// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether there is a place for temporary files, and enough of it, before the work starts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file_system.h"

namespace hetsort::io {

/// A folder that files can be created in.
struct Space {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t free_bytes = 0;  ///< for unprivileged users; UINT64_MAX where the file system does not tell
  Storage storage = Storage::kDisk;
};

/// Looks at `path` and creates a nameless file in it to see that it can. `role` stands in messages: "temp directory".
/// Throws: Error "ROLE PATH: REASON" when it is missing, no directory or not writable.
Space inspect_space(const std::string& path, const std::string& role);

/// What is going to be stored in a folder.
struct SpaceNeed {
  std::string role;  ///< "temp directory", "output folder"
  std::string path;
  std::uint64_t bytes = 0;
};

/// Checks that every file system has room for all that is going to be stored in its folders together.
/// Throws: Error "temp directory /scratch: needs 8.0 GiB, 3.1 GiB free", and those of inspect_space().
void check_space(std::span<const SpaceNeed> needs);

}  // namespace hetsort::io
