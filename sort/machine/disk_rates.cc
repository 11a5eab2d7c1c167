// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/machine/disk_rates.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stop_token>
#include <system_error>

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

ProbeWrites write_blocks(const std::string& directory, std::uint64_t most_bytes, const std::stop_token& stop) {
  constexpr std::uint64_t kProbeBytes = std::uint64_t{1} << 20;
  const io::File file = io::File::create_nameless(directory);
  const io::Buffer block(kProbeBytes);
  std::memset(block.data(), 1, block.size_bytes());
  file.set_direct(true);
  const io::Stopwatch watch;
  ProbeWrites written;
  while (!stop.stop_requested() && written.bytes + kProbeBytes <= most_bytes) {
    file.write_at(block.span(), written.bytes);
    written = {written.bytes + kProbeBytes, watch.seconds()};
  }
  return written;
}

}  // namespace

WritingProbe::WritingProbe(const std::string& directory, std::uint64_t most_bytes) {
  try {
    thread_ = std::jthread([this, directory, most_bytes](const std::stop_token& stop) {
      try {
        written_ = write_blocks(directory, most_bytes, stop);
      } catch (const std::exception&) {  // a full disk fails the sort where it writes its output
      }
    });
  } catch (const std::system_error&) {  // no thread, no rate
  }
}

ProbeWrites WritingProbe::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  return written_;
}

std::vector<double> writing_rates(std::span<const ProbeWrites> written) {
  constexpr std::uint64_t kMinBytes = std::uint64_t{4} << 20;
  constexpr double kMinSeconds = 0.02;
  std::vector<double> rates(written.size(), 0);
  const bool all = std::ranges::all_of(written, [](const ProbeWrites& one) { return one.bytes >= kMinBytes; });
  const bool long_enough =
      std::ranges::any_of(written, [](const ProbeWrites& one) { return one.seconds >= kMinSeconds; });
  if (!all || !long_enough) return rates;
  std::ranges::transform(written, rates.begin(), [&](const ProbeWrites& one) {
    return static_cast<double>(one.bytes) / std::max(kMinSeconds, one.seconds);
  });
  return rates;
}

}  // namespace hetsort::sort
