// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Staging and range writers together: neighbouring ranges of one file, written in any order, make the whole.
#include "sort/output/range_writer.h"

#include <fcntl.h>

#include "io/transfer/access.h"
#include "sort/model/memory_plan.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

struct Range {
  std::uint64_t first_byte = 0;
  std::span<const std::byte> bytes;
};

/// An output file whose ranges are written one by one.
class RangedFile {
 public:
  RangedFile(const Scratch& folder, bool direct) {
    buffered_ = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
    files_.buffered = &buffered_;
    if (direct && io::direct_io(buffered_).possible) {
      direct_ = buffered_.reopen(O_WRONLY | O_DIRECT);
      files_.direct = &direct_;
    }
  }

  /// Writes records through a ring of `blocks` blocks, `at_once` records at a time.
  void write(const Range& range, std::size_t record_bytes, std::size_t blocks, std::size_t at_once) {
    const std::size_t slack = round_up(record_bytes + kReadableSlackBytes, kPageBytes);
    const std::size_t block_bytes = std::max<std::size_t>(2 * kPageBytes, round_up(record_bytes, kPageBytes)) + slack;
    const io::Buffer memory(blocks * block_bytes);
    const auto queue = io::make_queue(io::Backend::kThreads, blocks);
    StagingRing ring(memory.span(), blocks, *queue);
    EXPECT_EQ(ring.block_bytes(), block_bytes);
    RangeWriter writer(files_, ring, record_bytes, range.first_byte);
    for (std::size_t done = 0; done < range.bytes.size();) {
      const std::span<std::byte> room = writer.room();
      ASSERT_GE(room.size(), record_bytes);
      ASSERT_EQ(room.size() % record_bytes, 0U);
      ASSERT_LE(room.data() + room.size() + kReadableSlackBytes, memory.data() + memory.size_bytes());
      const std::size_t bytes = std::min({range.bytes.size() - done, room.size(), at_once * record_bytes});
      std::memcpy(room.data(), range.bytes.data() + done, bytes);
      writer.commit(bytes);
      done += bytes;
    }
    writer.finish();
  }

 private:
  io::File buffered_;
  io::File direct_;
  OutputFiles files_;
};

/// `first_byte`: where the first range starts in the file. Cuts are in records, ascending.
void expect_whole(std::size_t record_bytes, std::size_t records, std::uint64_t first_byte,
                  const std::vector<std::size_t>& cuts, std::mt19937_64 random) {
  const Bytes bytes = make_records({Distribution::kUniform, {record_bytes, 0, 1}, records, random()});
  std::vector<Range> ranges;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t from = (i == 0 ? 0 : cuts[i - 1]) * record_bytes;
    const std::size_t to = (i == cuts.size() ? records : cuts[i]) * record_bytes;
    ranges.push_back({first_byte + from, std::span(bytes).subspan(from, to - from)});
  }
  std::shuffle(ranges.begin(), ranges.end(), random);
  for (const bool direct : {false, true}) {
    const Scratch folder;
    RangedFile file(folder, direct);
    for (const Range& range : ranges) file.write(range, record_bytes, 1 + random() % 4, 1 + random() % 40);
    const Bytes written = read_bytes(folder / "out");
    ASSERT_EQ(written.size(), records == 0 ? 0 : first_byte + bytes.size());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), written.end() - static_cast<std::ptrdiff_t>(bytes.size())))
        << record_bytes << " x " << records << " from " << first_byte << ", direct " << direct;
  }
}

TEST(RangeWriter, neighbouring_ranges_share_their_border_pages) {
  SCOPED_TRACE(seed_note());
  std::mt19937_64 random(test_seed());
  for (const std::size_t record_bytes : {1U, 7U, 99U, 100U, 4096U, 5000U, 20'000U}) {
    for (int round = 0; round < 4; ++round) {
      const std::size_t records = 1 + random() % (120'000 / record_bytes + 3);
      std::vector<std::size_t> cuts(5);
      for (std::size_t& cut : cuts) cut = random() % (records + 1);
      std::sort(cuts.begin(), cuts.end());
      expect_whole(record_bytes, records, 0, cuts, random);
    }
  }
}

TEST(RangeWriter, ranges_smaller_than_a_page_leave_their_neighbours_alone) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 3; cut < 100; cut += 3) cuts.push_back(cut);
  expect_whole(100, 100, 0, cuts, std::mt19937_64(test_seed()));
}

TEST(RangeWriter, starts_at_any_byte_of_the_file) {
  for (const std::uint64_t first_byte : {1U, 99U, 4095U, 4096U, 4097U, 12'345U})
    expect_whole(100, 500, first_byte, {1, 40, 41, 300}, std::mt19937_64(first_byte));
}

TEST(RangeWriter, ends_exactly_at_pages_and_blocks) {
  // Records of 128 bytes: 32 a page, and blocks end without a rest.
  for (const std::size_t records : {0U, 32U, 64U, 96U, 128U, 1024U, 1025U})
    expect_whole(128, records, 0, {records / 2}, std::mt19937_64(records));
}

TEST(StagingRing, hands_a_block_out_again_only_after_its_write_came_back) {
  const Scratch folder;
  const io::File file = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
  constexpr std::size_t kBlocks = 3;
  const io::Buffer memory(kBlocks * kPageBytes + 100);
  const auto queue = io::make_queue(io::Backend::kThreads, kBlocks);
  StagingRing ring(memory.span(), kBlocks, *queue);
  EXPECT_EQ(ring.block_bytes(), kPageBytes);
  for (std::size_t i = 0; i < 100; ++i) {
    std::byte* const block = ring.current();
    EXPECT_EQ(block, memory.data() + i % kBlocks * kPageBytes);
    std::memset(block, static_cast<int>(i), kPageBytes);
    ring.write(file, 0, kPageBytes, i * kPageBytes);
  }
  ring.drain();
  EXPECT_EQ(queue->in_flight(), 0U);
  const Bytes written = read_bytes(folder / "out");
  ASSERT_EQ(written.size(), 100 * kPageBytes);
  for (std::size_t at = 0; at < written.size(); ++at) ASSERT_EQ(written[at], static_cast<std::byte>(at / kPageBytes));
}

TEST(StagingRing, reports_a_failed_write) {
  const Scratch folder;
  const io::File file = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
  const io::Buffer memory(2 * kPageBytes);
  const auto queue = io::make_queue(io::Backend::kBuffered, 2);
  StagingRing ring(memory.span(), 2, *queue);
  const Faults faults("write:1:ENOSPC");
  ring.current();
  ring.write(file, 0, kPageBytes, 0);
  EXPECT_THROW(ring.drain(), io::Error);
}

}  // namespace
}  // namespace hetsort::sort::test
