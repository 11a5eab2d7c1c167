// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Run readers read what spill writers wrote, and detect blocks that have changed.
#include "sort/runs/run_reader.h"

#include <string>

#include "sort/select/run_probe.h"
#include "tests/sort/select/spilled_runs.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kReaderLayout{.record_bytes = 100, .key_offset = 3, .key_bytes = 10};
constexpr std::size_t kBlockBytes = 8192;  // 81 records and padding

struct ReaderMeans {
  ReaderMeans(const SpilledRuns& runs, std::size_t streams, std::size_t blocks_each, std::size_t depth)
      : memory(RunReader::memory_needed(streams, runs.space().block_bytes(), blocks_each)),
        queue(io::make_queue(io::Backend::kThreads, depth)) {}
  io::Buffer memory;
  std::unique_ptr<io::Queue> queue;
};

Bytes read_to_end(RunReader& reader, std::size_t stream) {
  Bytes bytes;
  while (true) {
    const std::span<const std::byte> part = reader.next(stream);
    if (part.empty()) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
}

Bytes slice(const Bytes& records, std::uint64_t first, std::uint64_t last) {
  return {records.begin() + static_cast<std::ptrdiff_t>(first * kReaderLayout.record_bytes),
          records.begin() + static_cast<std::ptrdiff_t>(last * kReaderLayout.record_bytes)};
}

TEST(RunReader, reads_back_every_range_of_a_run) {
  for (const bool direct : {false, true}) {
    SpilledRuns runs(kReaderLayout, kBlockBytes, direct);
    runs.add_runs(Distribution::kUniform, {500}, test_seed());
    for (const std::uint64_t first : {0U, 1U, 80U, 81U, 82U, 162U, 485U, 499U, 500U})
      for (const std::uint64_t last : {0U, 1U, 80U, 81U, 82U, 163U, 486U, 499U, 500U}) {
        if (last < first) continue;
        ReaderMeans means(runs, 1, 2, 4);
        RunReader reader(runs.space(), kReaderLayout, {{&runs.runs()[0], first, last}}, means.memory.span(),
                         *means.queue);
        EXPECT_TRUE(read_to_end(reader, 0) == slice(runs.sorted(0), first, last)) << first << ".." << last;
        EXPECT_TRUE(reader.next(0).empty()) << "an end stays an end";
      }
  }
}

TEST(RunReader, returns_the_ranges_of_a_stream_one_after_the_other) {
  std::mt19937_64 random(test_seed());
  SpilledRuns runs(kReaderLayout, kBlockBytes, true);
  runs.add_runs(Distribution::kUniform, {500}, test_seed());
  const SpilledRun& run = runs.runs()[0];
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> borders{0, run.records};
    for (std::uint64_t i = random() % 12; i > 0; --i) borders.push_back(random() % (run.records + 1));
    std::sort(borders.begin(), borders.end());
    // Two streams have every second portion each, as two threads share them; some portions are empty.
    std::array<SpilledPortions, 2> streams;
    std::array<Bytes, 2> expected;
    for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
      streams[i % 2].push_back({&run, borders[i], borders[i + 1]});
      const Bytes part = slice(runs.sorted(0), borders[i], borders[i + 1]);
      expected[i % 2].insert(expected[i % 2].end(), part.begin(), part.end());
    }
    ReaderMeans means(runs, 2, 1 + random() % 4, 3);
    RunReader reader(runs.space(), kReaderLayout, std::vector<SpilledPortions>{streams[0], streams[1]},
                     means.memory.span(), *means.queue);
    for (const std::size_t stream : {1U, 0U}) EXPECT_TRUE(read_to_end(reader, stream) == expected[stream]);
  }
}

TEST(RunReader, streams_can_be_read_in_any_order) {
  std::mt19937_64 random(test_seed());
  SpilledRuns runs(kReaderLayout, kBlockBytes, true);
  runs.add_runs(Distribution::kFewKeys, {1000, 0, 1, 81, 82, 700}, test_seed());
  for (const std::size_t blocks_each : {1U, 2U, 9U}) {
    ReaderMeans means(runs, 6, blocks_each, 3);
    std::vector<SpilledPortion> portions;
    for (const SpilledRun& run : runs.runs()) portions.push_back({&run, 0, run.records});
    RunReader reader(runs.space(), kReaderLayout, portions, means.memory.span(), *means.queue);
    std::vector<Bytes> read(6);
    std::vector<std::size_t> open{0, 1, 2, 3, 4, 5};
    while (!open.empty()) {
      const std::size_t at = random() % open.size();
      const std::span<const std::byte> part = reader.next(open[at]);
      read[open[at]].insert(read[open[at]].end(), part.begin(), part.end());
      if (part.empty()) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    }
    for (std::size_t run = 0; run < 6; ++run) EXPECT_TRUE(read[run] == runs.sorted(run)) << run;
  }
}

TEST(RunReader, finds_every_corrupt_block) {
  for (const bool direct : {false, true}) {
    SpilledRuns runs(kReaderLayout, kBlockBytes, direct);
    runs.add_runs(Distribution::kUniform, {550}, test_seed());
    const std::size_t blocks = runs.runs()[0].blocks.size();
    ASSERT_EQ(blocks, 7U);
    for (std::size_t n = 1; n <= blocks; ++n) {
      const Faults faults("read:" + std::to_string(n) + ":corrupt");
      ReaderMeans means(runs, 1, 2, 1);
      const std::string message = io::test::message_of<io::Error>([&] {
        RunReader reader(runs.space(), kReaderLayout, {{&runs.runs()[0], 0, 550}}, means.memory.span(), *means.queue);
        read_to_end(reader, 0);
      });
      EXPECT_NE(message.find("corrupt block at offset"), std::string::npos) << n << ": " << message;
    }
  }
}

TEST(RunReader, finds_a_block_in_the_place_of_another) {
  SpilledRuns runs(kReaderLayout, kBlockBytes, false);
  runs.add_runs(Distribution::kUniform, {500}, test_seed());
  SpilledRun swapped = runs.runs()[0];
  std::swap(swapped.blocks[1].place, swapped.blocks[2].place);
  ReaderMeans means(runs, 1, 2, 4);
  RunReader reader(runs.space(), kReaderLayout, {{&swapped, 0, 500}}, means.memory.span(), *means.queue);
  EXPECT_THROW(read_to_end(reader, 0), io::Error);
}

TEST(RunReader, reports_a_read_that_failed) {
  SpilledRuns runs(kReaderLayout, kBlockBytes, false);
  runs.add_runs(Distribution::kUniform, {500}, test_seed());
  const Faults faults("read:3:EIO");
  ReaderMeans means(runs, 1, 2, 4);
  RunReader reader(runs.space(), kReaderLayout, {{&runs.runs()[0], 0, 500}}, means.memory.span(), *means.queue);
  EXPECT_THROW(read_to_end(reader, 0), io::Error);
}

/// Runs with blocks of several pieces, of records whose bytes behind the key are alike.
class PackedRuns : public testing::TestWithParam<std::string> {
 protected:
  PackedRuns()
      : runs_(kReaderLayout, kPackedBlockBytes, true, kPackedBlockBytes,
              GetParam() == "zstd" ? io::SpillCompression::kZstd : io::SpillCompression::kLz4) {
    Bytes records = make_records({Distribution::kUniform, kReaderLayout, kRecords, test_seed()});
    for (std::size_t at = 0; at < kRecords; ++at)
      if (at % 16 != 0) std::memset(records.data() + at * 100 + 13, 'x', 87);
    runs_.add(records);
  }

  static constexpr std::size_t kPackedBlockBytes = 40 * kPageBytes;
  static constexpr std::uint64_t kRecords = 7000;
  SpilledRuns runs_;
};

TEST_P(PackedRuns, are_smaller_and_read_back_in_every_range) {
  const SpilledRun& run = runs_.runs()[0];
  ASSERT_EQ(run.blocks.size(), 5U);
  EXPECT_LT(runs_.space().taken_bytes(), 3 * kPackedBlockBytes);
  for (const SpilledBlock& block : run.blocks) EXPECT_TRUE(block.packed.exist());
  for (const std::uint64_t first : {0U, 1U, 1637U, 1638U, 1639U, 6999U})
    for (const std::uint64_t last : {1U, 1638U, 1639U, 5000U, 7000U}) {
      if (last < first) continue;
      ReaderMeans means(runs_, 1, 2, 4);
      RunReader reader(runs_.space(), kReaderLayout, {{&run, first, last}}, means.memory.span(), *means.queue);
      EXPECT_TRUE(read_to_end(reader, 0) == slice(runs_.sorted(0), first, last)) << first << ".." << last;
    }
}

TEST_P(PackedRuns, show_blocks_that_changed) {
  const SpilledRun whole = runs_.runs()[0];
  const auto read_with = [&](const std::function<void(SpilledBlock&)>& change) {
    SpilledRun changed = whole;
    change(changed.blocks[2]);
    ReaderMeans means(runs_, 1, 2, 4);
    return io::test::message_of<io::Error>([&] {
      RunReader reader(runs_.space(), kReaderLayout, {{&changed, 0, kRecords}}, means.memory.span(), *means.queue);
      read_to_end(reader, 0);
    });
  };
  EXPECT_EQ(read_with([](SpilledBlock&) {}), "");
  const auto swapped = [&](SpilledBlock& block) { block.place = whole.blocks[3].place; };
  EXPECT_NE(read_with(swapped).find("corrupt block at offset"), std::string::npos);
  for (std::size_t piece = 0; piece < whole.blocks[2].packed.ends.size(); ++piece) {
    const auto cut = [&](SpilledBlock& block) { --block.packed.ends[piece]; };
    EXPECT_NE(read_with(cut).find("corrupt block at offset"), std::string::npos) << piece;
  }
}

TEST_P(PackedRuns, show_single_keys_and_lines) {
  RunProbe probe(runs_.runs(), runs_.space(), kReaderLayout);
  std::mt19937_64 random(test_seed());
  const Bytes sorted = with_slack(runs_.sorted(0));
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t position = random() % kRecords;
    const std::string expected(reinterpret_cast<const char*>(sorted.data() + position * 100 + 3), 10);
    ASSERT_EQ(probe.key(0, position), expected) << position;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PackedRuns, testing::Values("zstd", "lz4"),
                         [](const auto& format) { return format.param; });

TEST(SpillWriter, keeps_number_checksum_and_first_prefix_of_every_block) {
  SpilledRuns runs(kReaderLayout, kBlockBytes, false);
  runs.add_runs(Distribution::kUniform, {81, 82, 0, 1}, test_seed());
  EXPECT_EQ(records_per_block(runs.space(), kReaderLayout), 81U);
  std::set<std::uint64_t> numbers;
  for (std::size_t run = 0; run < 4; ++run) {
    const SpilledRun& spilled = runs.runs()[run];
    EXPECT_EQ(spilled.records, runs.sizes()[run]);
    EXPECT_EQ(spilled.blocks.size(), (spilled.records + 80) / 81);
    const Bytes sorted = with_slack(runs.sorted(run));
    for (std::size_t block = 0; block < spilled.blocks.size(); ++block) {
      EXPECT_TRUE(spilled.prefixes.elements[block] == key_prefix(kReaderLayout, sorted.data() + block * 81 * 100));
      EXPECT_TRUE(numbers.insert(spilled.blocks[block].number).second);
    }
  }
}

TEST(SpillWriter, keeps_the_prefixes_of_some_records_of_every_block) {
  SpilledRuns runs(kReaderLayout, kBlockBytes, false, 20 * 100 + 1);
  runs.add_runs(Distribution::kUniform, {81, 82, 0, 1, 200}, test_seed());
  for (std::size_t run = 0; run < 5; ++run) {
    const SpilledRun& spilled = runs.runs()[run];
    const Bytes sorted = with_slack(runs.sorted(run));
    std::uint64_t found = 0;
    for (std::uint64_t at = 0; at < spilled.records; ++at) {
      EXPECT_EQ(spilled.prefixes.first_behind(at), found);
      const Element* const known = spilled.prefixes.at(at);
      EXPECT_EQ(known != nullptr, at % 81 % 20 == 0);
      if (known == nullptr) continue;
      EXPECT_EQ(spilled.prefixes.position(found++), at);
      EXPECT_TRUE(*known == key_prefix(kReaderLayout, sorted.data() + at * 100));
    }
    EXPECT_EQ(spilled.prefixes.count(), found);
    EXPECT_EQ(spilled.prefixes.first_behind(spilled.records), found);
  }
}

}  // namespace
}  // namespace hetsort::sort::test
