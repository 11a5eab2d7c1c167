// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/shared_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "comm/base/packing.h"
#include "io/checksum/checksum.h"
#include "io/field.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kComparedBytes = 4096;
constexpr std::uint64_t kFirstAndLast = 2;
// Number of blocks, of all inputs together, that are compared in doubt.
constexpr std::uint64_t kBlocksInDoubt = 64;

std::vector<std::uint64_t> fingerprints_in_doubt(const Input& input) {
  const std::uint64_t each = std::max<std::uint64_t>(kFirstAndLast + 1, kBlocksInDoubt / input.files().size());
  std::vector<std::uint64_t> fingerprints;
  for (const InputFile& file : input.files()) fingerprints.push_back(sampled_fingerprint(file, each));
  return fingerprints;
}

std::vector<FileIdentity> identities(const Input& input) {
  std::vector<FileIdentity> all;
  for (const InputFile& file : input.files()) {
    const io::FileStatus status = file.file.status();
    all.push_back({status.inode, status.modified_nanoseconds, sampled_fingerprint(file, kFirstAndLast)});
  }
  return all;
}

/// Returns rank 0's numbers on all ranks. Collective.
std::vector<std::uint64_t> from_root(const std::vector<std::uint64_t>& numbers, comm::Communicator& ranks) {
  comm::Packer packer;
  packer.values(numbers);
  const comm::Bytes bytes = ranks.broadcast(packer.take());
  return comm::Unpacker(bytes).values<std::uint64_t>();
}

[[noreturn]] void refuse(const InputFile& input, const comm::Communicator& ranks) {
  throw RequestError(
      fmt::format("{}: this is another file than rank 0 ({}) sees under the name, so the storage is not shared: name "
                  "each rank's own file with {{rank}}, or give {}",
                  input.file.name(), ranks.host(0), io::field("root_input")));
}

/// Returns the numbers of the inputs that are in doubt. Throws: RequestError for one that is different.
std::vector<std::size_t> compare_with_root(const Input& input, const std::vector<FileIdentity>& mine,
                                           const std::vector<std::uint64_t>& of_root, const comm::Communicator& ranks) {
  constexpr std::size_t kNumbers = 3;
  if (of_root.size() != kNumbers * mine.size())
    throw RequestError(
        fmt::format("rank {} has {} INPUTs, rank 0 has {}", ranks.rank(), mine.size(), of_root.size() / kNumbers));
  std::vector<std::size_t> in_doubt;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::uint64_t* const numbers = &of_root[kNumbers * i];
    const Sameness same = compare(mine[i], {numbers[0], numbers[1], numbers[2]});
    if (same == Sameness::kDifferent) refuse(input.files()[i], ranks);
    if (same == Sameness::kInDoubt) in_doubt.push_back(i);
  }
  return in_doubt;
}

}  // namespace

std::uint64_t sampled_fingerprint(const InputFile& input, std::uint64_t count) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
  const std::uint64_t blocks = (input.size_bytes + kComparedBytes - 1) / kComparedBytes;
  const std::uint64_t taken = std::min(blocks, count);
  std::uint64_t fingerprint = input.size_bytes;
  std::array<std::byte, kComparedBytes> block;
  if (input.direct) input.file.set_direct(false);
  for (std::uint64_t i = 0; i < taken; ++i) {
    // The distance of two blocks comes first, so that no product exceeds 64 bits.
    const std::uint64_t number =
        i + 1 == taken ? blocks - 1 : i * ((blocks - 1) / std::max<std::uint64_t>(1, taken - 1));
    const std::size_t bytes = std::min(kComparedBytes, input.size_bytes - number * kComparedBytes);
    const std::size_t got = input.file.read_at(std::span(block).first(bytes), number * kComparedBytes);
    fingerprint = fingerprint * kOdd + (got > 0 ? io::fingerprint(std::span(block).first(got), got) : 0);
  }
  if (input.direct) input.file.set_direct(true);
  return fingerprint;
}

Sameness compare(const FileIdentity& mine, const FileIdentity& other) {
  if (mine.fingerprint != other.fingerprint) return Sameness::kDifferent;
  const bool agrees = mine.inode == other.inode || mine.modified_nanoseconds == other.modified_nanoseconds;
  return agrees ? Sameness::kSame : Sameness::kInDoubt;
}

void check_inputs_are_shared(const Input& input, comm::Communicator& ranks) {
  const std::vector<FileIdentity> mine = identities(input);
  std::vector<std::uint64_t> numbers;
  for (const FileIdentity& each : mine)
    numbers.insert(numbers.end(), {each.inode, each.modified_nanoseconds, each.fingerprint});
  const std::vector<std::size_t> in_doubt = compare_with_root(input, mine, from_root(numbers, ranks), ranks);
  if (ranks.all_reduce_sum(std::uint64_t{in_doubt.size()}) == 0) return;
  const std::vector<std::uint64_t> own = fingerprints_in_doubt(input);
  const std::vector<std::uint64_t> of_root = from_root(own, ranks);
  for (const std::size_t i : in_doubt)
    if (own[i] != of_root.at(i)) refuse(input.files()[i], ranks);
}

}  // namespace hetsort::sort
