// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorted runs on disk for the tests of what reads them.
#pragma once

#include <limits>

#include "sort/model/memory_plan.h"
#include "sort/runs/spill_writer.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {

/// A few sorted runs in one spill space.
class SpilledRuns {
 public:
  /// `prefix_bytes`: as SpillWriter. Requires: block_bytes a multiple of pages that holds a record.
  SpilledRuns(const RecordLayout& layout, std::size_t block_bytes, bool direct,
              std::uint64_t prefix_bytes = std::numeric_limits<std::uint64_t>::max(),
              io::SpillCompression compression = io::SpillCompression::kNo)
      : layout_(layout),
        space_({folder_.path(), folder_.path()}, block_bytes, direct),
        prefix_bytes_(prefix_bytes),
        packer_(compression) {}

  /// Sorts `records` and spills them as the next run.
  void add(std::span<const std::byte> records) {
    all_.insert(all_.end(), records.begin(), records.end());
    Bytes sorted = reference_sort(records, layout_);
    sizes_.push_back(sorted.size() / layout_.record_bytes);
    constexpr std::size_t kBlocks = 3;
    const io::Buffer memory(kBlocks * (space_.block_bytes() + kPageBytes));
    const auto queue = io::make_queue(io::Backend::kBuffered, kBlocks);
    StagingRing ring(memory.span(), kBlocks, *queue);
    SpillWriter writer(space_, ring, layout_, prefix_bytes_, &packer_);
    for (std::size_t done = 0; done < sorted.size();) {
      const std::span<std::byte> room = writer.room();
      const std::size_t bytes = std::min(room.size(), sorted.size() - done);
      std::memcpy(room.data(), sorted.data() + done, bytes);
      writer.commit(bytes);
      done += bytes;
    }
    writer.finish();
    runs_.push_back(writer.take_run());
    sorted_.push_back(std::move(sorted));
  }
  /// As many runs as `sizes`, each of records of `distribution`.
  void add_runs(Distribution distribution, const std::vector<std::size_t>& sizes, std::uint64_t seed) {
    for (std::size_t run = 0; run < sizes.size(); ++run)
      add(make_records({distribution, layout_, sizes[run], seed + run}));
  }

  const RecordLayout& layout() const { return layout_; }
  const io::SpillSpace& space() const { return space_; }
  std::span<const SpilledRun> runs() const { return runs_; }
  /// The records of one run, as they were spilled.
  const Bytes& sorted(std::size_t run) const { return sorted_[run]; }
  /// All records in input order, and their number.
  const Bytes& all() const { return all_; }
  std::uint64_t records() const { return all_.size() / layout_.record_bytes; }
  const std::vector<std::size_t>& sizes() const { return sizes_; }

 private:
  Scratch folder_;
  RecordLayout layout_;
  io::SpillSpace space_;
  std::uint64_t prefix_bytes_;
  io::SpillPacker packer_;
  std::vector<SpilledRun> runs_;
  std::vector<Bytes> sorted_;
  std::vector<std::size_t> sizes_;
  Bytes all_;
};

}  // namespace hetsort::sort::test
