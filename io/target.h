// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What exists where an output is to go, and whether it may be replaced. Internal to io/; see publish.h.
#pragma once

#include <string>

#include "io/file.h"

namespace hetsort::io {

struct Target {
  File direct;       ///< open for writing when the target is written directly; then nothing below is set
  File folder;       ///< folder of the file behind all links, opened with O_PATH; its name is absolute where possible
  std::string name;  ///< name of that file in the folder
  bool exists = false;
  unsigned mode = 0;  ///< permission bits of what exists, and its owners
  unsigned user = 0;
  unsigned group = 0;
};

/// Finds out what `path` leads to. Throws: Error naming `path` when it is a directory, may not be written or replaced,
/// or has no folder.
Target find_target(const std::string& path);

/// Opens `folder` again, to sync it. Returns a closed File where it may not be read. Throws: Error naming `path`.
File open_folder(const File& folder, const std::string& path);

/// The process's file creation mask. It is read from /proc; a kernel that does not show it there requires changing it
/// for a moment.
unsigned current_umask();

}  // namespace hetsort::io
