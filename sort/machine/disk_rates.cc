// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/disk_rates.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stop_token>
#include <system_error>
#include <vector>

#include "io/calls/buffer.h"
#include "io/file.h"
#include "io/stopwatch.h"
#include "io/temp/temp_space.h"

namespace hetsort::sort {

namespace {

// Bytes of a block: large enough that one call after the other keeps a device busy.
constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxBlocks = 128;
constexpr std::uint64_t kPartOfFreeSpace = 8;

/// Calls transfer(block) for one block after the other; returns how many there were.
template <typename Transfer>
std::uint64_t repeat(std::uint64_t most_blocks, double most_seconds, const Transfer& transfer) {
  const io::Stopwatch watch;
  std::uint64_t block = 0;
  do transfer(block++);
  while (block < most_blocks && watch.seconds() < most_seconds);
  return block;
}

}  // namespace

DiskRates measure_disk(const std::string& directory, double seconds) {
  const io::Space space = io::inspect_space(directory, "temp directory");
  const std::uint64_t most =
      std::clamp(space.free_bytes / kPartOfFreeSpace / kBlockBytes, std::uint64_t{1}, kMaxBlocks);
  const io::File file = io::File::create_nameless(directory);
  const io::Buffer block(kBlockBytes);
  std::memset(block.data(), 1, block.size_bytes());
  file.set_direct(true);
  const io::Stopwatch writing;
  const std::uint64_t blocks =
      repeat(most, seconds / 2, [&](std::uint64_t at) { file.write_at(block.span(), at * kBlockBytes); });
  file.sync();
  DiskRates rates;
  rates.write_bytes_per_second = static_cast<double>(blocks * kBlockBytes) / writing.seconds();
  const io::Stopwatch reading;
  const std::uint64_t read = repeat(
      blocks, seconds / 2, [&](std::uint64_t at) { static_cast<void>(file.read_at(block.span(), at * kBlockBytes)); });
  rates.read_bytes_per_second = static_cast<double>(read * kBlockBytes) / reading.seconds();
  return rates;
}

namespace {

/// Bytes per second of the later half of the blocks; 0 if there are too few.
double write_blocks(const std::string& directory, std::uint64_t most_bytes, const std::stop_token& stop) {
  constexpr std::uint64_t kProbeBytes = std::uint64_t{1} << 20;
  constexpr std::size_t kMinBlocks = 4;
  const io::File file = io::File::create_nameless(directory);
  const io::Buffer block(kProbeBytes);
  std::memset(block.data(), 1, block.size_bytes());
  file.set_direct(true);
  const io::Stopwatch watch;
  std::vector<double> ends;
  while (!stop.stop_requested() && (ends.size() + 1) * kProbeBytes <= most_bytes) {
    file.write_at(block.span(), ends.size() * kProbeBytes);
    ends.push_back(watch.seconds());
  }
  if (ends.size() < kMinBlocks) return 0;
  const std::size_t half = ends.size() / 2;
  return static_cast<double>((ends.size() - half) * kProbeBytes) / std::max(1e-9, ends.back() - ends[half - 1]);
}

}  // namespace

WritingProbe::WritingProbe(const std::string& directory, std::uint64_t most_bytes) {
  try {
    thread_ = std::jthread([this, directory, most_bytes](const std::stop_token& stop) {
      try {
        rate_ = write_blocks(directory, most_bytes, stop);
      } catch (const std::exception&) {  // a full disk fails the sort where it writes its output
      }
    });
  } catch (const std::system_error&) {  // no thread, no rate
  }
}

double WritingProbe::bytes_per_second() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return rate_;
}

}  // namespace hetsort::sort
