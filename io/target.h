// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands where an output is to go, and whether it may be replaced. Internal to io/; see publish.h.
#pragma once

#include <string>

#include "io/file.h"

namespace hetsort::io {

struct Target {
  File direct;         ///< open for writing when the target is written directly; then nothing below is set
  std::string folder;  ///< of the file behind all symbolic links; absolute where it can be told
  std::string name;    ///< in that folder
  bool exists = false;
  unsigned mode = 0;  ///< permission bits of what exists, and its owners
  unsigned user = 0;
  unsigned group = 0;
};

/// Throws: Error naming `path` when it is a directory, may not be written or replaced, or has no folder.
Target find_target(const std::string& path);

/// Opens `folder` to sync it. Returns a closed File where it may not be read. Throws: Error naming `path`.
File open_folder(const std::string& folder, const std::string& path);

/// The process's file creation mask, read without changing it where the kernel tells.
unsigned current_umask();

}  // namespace hetsort::io
