// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_file.h"

#include <fcntl.h>

namespace hetsort::io {

TempFile::TempFile(const std::string& directory, const std::string& name) {
  const File folder = File::open(directory, O_PATH | O_DIRECTORY, 0, "create a file in");
  remove_stale_parts(folder, name);
  part_ = create_part(folder, name, directory + "/" + name);
}

}  // namespace hetsort::io
