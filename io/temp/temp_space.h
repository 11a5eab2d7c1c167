// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks before the work starts that temporary files can be created and that there is space for them.
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
  std::uint64_t free_bytes = 0;  ///< bytes free for ordinary users; UINT64_MAX if the file system does not report them
  Storage storage = Storage::kDisk;
};

/// Inspects `path` and creates a nameless file in it. `role` names it in messages: "temp directory".
/// Throws: Error "ROLE PATH: REASON" if it is missing, no directory or not writable.
Space inspect_space(const std::string& path, const std::string& role);

/// Space that will be needed in a folder.
struct SpaceNeed {
  std::string role;  ///< "temp directory", "output folder"
  std::string path;
  std::uint64_t bytes = 0;
};

/// Checks that every file system has room for all that its folders will hold together.
/// Throws: Error "temp directory /scratch: needs 8.0 GiB, 3.1 GiB free", and those of inspect_space().
void check_space(std::span<const SpaceNeed> needs);

}  // namespace hetsort::io
