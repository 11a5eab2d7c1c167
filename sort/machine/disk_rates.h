// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the sequential write and read rates of the disk under a folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace hetsort::sort {

struct DiskRates {
  double read_bytes_per_second = 0;
  double write_bytes_per_second = 0;
};

/// Writes a nameless file in `directory` for half of `seconds`, syncs it, and reads it back for the other half at most:
/// past the page cache where the file system allows that. Takes at most an eighth of the free space.
/// Throws: io::Error.
DiskRates measure_disk(const std::string& directory, double seconds);

/// Measures how fast a disk writes while the rank does something else.
class WritingProbe {
 public:
  /// Writes a nameless file of up to `most_bytes` in `directory` on a thread of its own, past the page cache where the
  /// file system allows that. Measures nothing if the system refuses the thread or the file.
  WritingProbe(const std::string& directory, std::uint64_t most_bytes);
  WritingProbe(const WritingProbe&) = delete;
  WritingProbe& operator=(const WritingProbe&) = delete;

  /// Ends the writing. Returns bytes per second of the later half, because a disk takes the first blocks faster than it
  /// writes; 0 if too little was written.
  double bytes_per_second();

 private:
  std::atomic<double> rate_{0};
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace hetsort::sort
