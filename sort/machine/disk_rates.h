// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the sequential write and read rates of the disk under a folder.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace hetsort::sort {

struct DiskRates {
  double read_bytes_per_second = 0;
  double write_bytes_per_second = 0;
};

/// Writes a nameless file in `directory` for half of `seconds`, syncs it, and reads it back for the other half at most:
/// past the page cache where the file system allows that. Takes at most an eighth of the free space.
/// Throws: io::Error.
DiskRates measure_disk(const std::string& directory, double seconds);

/// What a probe has written, and how long it took.
struct ProbeWrites {
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Measures how fast a disk writes while the rank does something else.
class WritingProbe {
 public:
  /// Writes a nameless file of up to `most_bytes` in `directory` on a thread of its own, past the page cache where the
  /// file system allows that. Measures nothing if the system refuses the thread or the file.
  WritingProbe(const std::string& directory, std::uint64_t most_bytes);
  WritingProbe(const WritingProbe&) = delete;
  WritingProbe& operator=(const WritingProbe&) = delete;

  /// Ends the writing. The whole of it counts: a disk that is throttled takes some blocks at once and the next one
  /// after the time of all. No bytes if nothing was measured.
  ProbeWrites finish();

 private:
  ProbeWrites written_;  // by the thread until it is joined
  std::jthread thread_;  // the last member: it uses the others
};

/// Bytes per second of the disks that probes have written to at the same time. A probe counts with 20 ms at least:
/// what takes less shows only how much a cache or a control group takes at once. All 0, unknown, if a probe has written
/// less than 4 MiB, or if none took that long: then no disk is known to be slow.
std::vector<double> writing_rates(std::span<const ProbeWrites> written);

}  // namespace hetsort::sort
