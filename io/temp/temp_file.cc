// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_file.h"

#include <fcntl.h>

#include <cerrno>

#include "io/error.h"

namespace hetsort::io {

TempFile::TempFile(const std::string& directory, const std::string& name) {
  constexpr unsigned kOwnerOnly = 0600;
  constexpr unsigned kMostNamesTried = 100;
  remove_stale_parts(directory, name);
  for (unsigned attempt = 0; !file_.is_open(); ++attempt) {
    part_ = PartName::reserve(directory, name, attempt);
    if (part_.is_empty()) continue;
    try {
      file_ = File::open(part_.path(), O_RDWR | O_CREAT | O_EXCL, kOwnerOnly, "create");
    } catch (const Error& error) {
      // Another machine's process of the same number may have it, in a folder that both see.
      part_.forget();
      if (error.error_number() != EEXIST || attempt == kMostNamesTried) throw;
    }
  }
  lock_part(file_.descriptor());
}

}  // namespace hetsort::io
