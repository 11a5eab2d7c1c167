// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of an input that are sorted are runs where they lie, until the input changes.
#include "sort/input/run_in_place.h"

#include "sort/runs/run_reader.h"
#include "sort/select/sorted_runs.h"
#include "tests/sort/select/spilled_runs.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kFileLayout{.record_bytes = 100, .key_offset = 3, .key_bytes = 12};
constexpr std::size_t kFileBlockBytes = 8192;
constexpr std::size_t kFileHeaderBytes = 77;
constexpr std::uint64_t kFileRecords = 500;

/// A file of sorted records behind a header, all of it loaded.
class SortedFile {
 public:
  explicit SortedFile(io::Access access)
      : records_(reference_sort(make_records({Distribution::kUniform, kFileLayout, kFileRecords, test_seed()}),
                                kFileLayout)) {
    rewrite();
    input_ = std::make_unique<Input>(std::vector<std::string>{path_},
                                     input_format(kFileLayout, {.header = {.bytes = kFileHeaderBytes}}), access);
    loaded_.assign(kFileHeaderBytes, std::byte{});
    loaded_.insert(loaded_.end(), records_.begin(), records_.end());
    loaded_.resize(loaded_.size() + kReadableSlackBytes);
  }

  void rewrite() const { write_bytes(path_, with_header(make_header(kFileHeaderBytes, 1), records_)); }
  std::byte* record(std::uint64_t number) { return records_.data() + number * kFileLayout.record_bytes; }
  const Bytes& records() const { return records_; }
  std::byte* loaded(std::uint64_t number) {
    return loaded_.data() + kFileHeaderBytes + number * kFileLayout.record_bytes;
  }
  std::optional<RunInPlace> find(std::uint64_t first, std::uint64_t last) const {
    const std::uint64_t from = kFileHeaderBytes + first * kFileLayout.record_bytes;
    const std::vector<Segment> part{{&input_->files()[0], from, (last - first) * kFileLayout.record_bytes, from}};
    return run_in_place(kFileLayout, loaded_.data(), part, kFileBlockBytes / kFileLayout.record_bytes);
  }
  const io::SpillSpace& space() const { return space_; }

 private:
  Scratch folder_;
  std::string path_ = folder_ / "sorted";
  Bytes records_;
  Bytes loaded_;
  std::unique_ptr<Input> input_;
  io::SpillSpace space_{{folder_.path()}, kFileBlockBytes, false};
};

Bytes read_portion(const SortedFile& file, const SpilledPortion& portion) {
  const io::Buffer memory(RunReader::memory_needed(1, kFileBlockBytes));
  const auto queue = io::make_queue(io::Backend::kThreads, 4);
  RunReader reader(file.space(), kFileLayout, std::vector<SpilledPortion>{portion}, memory.span(), *queue);
  Bytes bytes;
  for (std::span<const std::byte> part = reader.next(0); !part.empty(); part = reader.next(0))
    bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

TEST(RunInPlace, is_read_and_searched_where_it_lies) {
  for (const io::Access access : {io::Access::kBuffered, io::Access::kAuto}) {
    const SortedFile file(access);
    const std::optional<RunInPlace> found = file.find(7, 483);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->run.records, 476U);
    EXPECT_EQ(found->digest.records, 476U);
    const auto* const base = file.records().data();
    EXPECT_TRUE(read_portion(file, {&found->run, 3, 470}) == Bytes(base + 1000, base + 47700));
    SpilledRunsView view({&found->run, 1}, file.space(), kFileLayout);
    for (const std::uint64_t at : {0U, 1U, 80U, 81U, 200U, 475U}) {
      const auto* const key = reinterpret_cast<const char*>(base + (7 + at) * kFileLayout.record_bytes + 3);
      EXPECT_EQ(view.key(0, at), std::string(key, 12)) << at;
    }
  }
}

TEST(RunInPlace, is_none_if_a_record_is_out_of_place) {
  SortedFile file(io::Access::kBuffered);
  std::swap_ranges(file.loaded(498), file.loaded(499), file.loaded(499));
  EXPECT_TRUE(file.find(0, 498));
  EXPECT_FALSE(file.find(0, 500));
}

TEST(RunInPlace, is_none_of_a_stream) {
  const Bytes equal(1000 + kReadableSlackBytes);
  const Segment stream{nullptr, 0, 1000, 0};
  EXPECT_FALSE(run_in_place(kFileLayout, equal.data(), {&stream, 1}, 81));
}

TEST(RunInPlace, fails_when_the_input_changes_meanwhile) {
  SortedFile file(io::Access::kBuffered);
  const std::optional<RunInPlace> found = file.find(0, kFileRecords);
  ASSERT_TRUE(found);
  file.record(300)[99] ^= std::byte{1};
  file.rewrite();
  EXPECT_TRUE(read_portion(file, {&found->run, 0, 200}) ==
              Bytes(file.records().begin(), file.records().begin() + 20000));
  try {
    read_portion(file, {&found->run, 0, kFileRecords});
    FAIL() << "a changed record was read";
  } catch (const io::Error& error) {
    EXPECT_NE(std::string(error.what()).find("changed while it was sorted"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hetsort::sort::test
