// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the sequential write and read rates of the disk under a folder.
#pragma once

#include <string>

namespace hetsort::sort {

struct DiskRates {
  double read_bytes_per_second = 0;
  double write_bytes_per_second = 0;
};

/// Writes a nameless file in `directory` for half of `seconds`, syncs it, and reads it back for the other half at most:
/// past the page cache where the file system allows that. Takes at most an eighth of the free space.
/// Throws: io::Error.
DiskRates measure_disk(const std::string& directory, double seconds);

}  // namespace hetsort::sort
