// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A temporary file with a name, for what opens its files by path.
#pragma once

#include <string>

#include "io/file.h"
#include "io/part_name.h"

namespace hetsort::io {

/// Creates the file, and removes its name at the end: also when a signal ends the process. After any other death the
/// next file of that name removes it. Movable, not copyable.
class TempFile {
 public:
  /// `name` is a part of the file's name; processes that use the folder at the same time choose different ones.
  /// Throws: Error naming the folder's file.
  TempFile(const std::string& directory, const std::string& name);

  std::string path() const { return part_.name.path(); }
  /// The file, open for reading and writing.
  const File& file() const { return part_.file; }

 private:
  PartFile part_;
};

}  // namespace hetsort::io
