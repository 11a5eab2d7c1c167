// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp_file.h"

#include <fcntl.h>

namespace hetsort::io {

TempFile::TempFile(const std::string& directory, const std::string& name) {
  constexpr unsigned kOwnerOnly = 0600;
  remove_stale_parts(directory, name);
  for (unsigned attempt = 0; part_.is_empty(); ++attempt) part_ = PartName::reserve(directory, name, attempt);
  file_ = File::open(part_.path(), O_RDWR | O_CREAT | O_EXCL, kOwnerOnly, "create");
  lock_part(file_.descriptor());
}

}  // namespace hetsort::io
