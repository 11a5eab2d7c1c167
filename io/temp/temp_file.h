// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A temporary file with a name, for what opens its files by path.
#pragma once

#include <string>

#include "io/file.h"
#include "io/part_name.h"

namespace hetsort::io {

/// Creates the file, and removes whatever has its name at the end: also when a signal ends the process, and after any
/// other death with the next file of that name. Movable, not copyable.
class TempFile {
 public:
  /// `name` is a part of the file's name; processes that use the folder at the same time choose different ones.
  /// Throws: Error naming the folder's file.
  TempFile(const std::string& directory, const std::string& name);

  const std::string& path() const { return part_.path(); }
  /// Open for reading and writing.
  const File& file() const { return file_; }

 private:
  // In this order: the name goes before its lock does.
  File file_;
  PartName part_;
};

}  // namespace hetsort::io
