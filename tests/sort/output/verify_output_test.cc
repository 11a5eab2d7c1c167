// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading the output back before it gets its name: bits that flip between write and publication.
// HETSORT_TEST_WRITE_FLIPS sets how many flip.
#include "sort/output/verify_output.h"

#include <sys/stat.h>

#include "sort/failure/proof_error.h"
#include "tests/machinery/fault_plan.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

using machinery::InProcessOptions;
using machinery::RankEnd;

constexpr const char* kOld = "old output";

/// A sort of a few megabytes, on one rank with one or several files or on several ranks that share one.
class VerifiedSort {
 public:
  explicit VerifiedSort(std::uint64_t seed) : dice_(seed) {
    layout_.record_bytes = dice_.one_of<std::size_t>({16, 100, 100, 4096, 5000});
    ranks_ = dice_.one_of<int>({1, 1, 2, 3});
    volumes_ = ranks_ == 1 ? dice_.one_of<std::size_t>({1, 2, 3}) : 1;
    threads_ = dice_.one_of<std::size_t>({1, 2, 3});
    access_ = dice_.one_of<io::Access>({io::Access::kBuffered, io::Access::kThreads});
    // Direct I/O is for outputs of 4 MiB and more.
    const std::size_t bytes = dice_.one_of<std::size_t>({100'000, 5'000'000});
    records_ = make_records({Distribution::kUniform, layout_, bytes / layout_.record_bytes, dice_.number()});
    write_bytes(folder_ / "in", records_);
  }

  /// Sorts with a fault plan; returns the conclusion of all ranks, empty for success.
  std::string run(bool verify, const std::string& faults = "") {
    for (const std::string& path : paths()) io::test::write_all(path, kOld);
    SortOptions options = sort_of_files({folder_ / "in"}, folder_ / "out", layout_);
    options.output.paths = paths();
    options.threads = threads_;
    options.access = access_;
    options.memory_bytes = std::uint64_t{256} << 20;
    options.output.verify = verify;
    const std::uint64_t before = writes();
    const Faults plan(faults);
    results_.assign(static_cast<std::size_t>(ranks_), {});
    const std::vector<machinery::RankEnd> ends =
        machinery::try_ranks(ranks_, 1, machinery::InProcessOptions{}, [&](comm::Communicator& ranks) {
          Monitor monitor;
          sort_records(options, ranks, monitor, results_[static_cast<std::size_t>(ranks.rank())]);
        });
    writes_ = writes() - before;
    fired_ = machinery::faults_fired();
    return ends.front().conclusion;
  }

  bool output_is_right() const {
    return is_sorted_form(read_volumes(paths(), 0, layout_.record_bytes), records_, layout_);
  }
  bool output_is_old() const {
    return std::ranges::all_of(paths(), [](const std::string& path) { return io::test::read_all(path) == kOld; });
  }
  /// Write calls, and faults that fired, in the last run.
  std::uint64_t writes_made() const { return writes_; }
  std::uint64_t fired() const { return fired_; }
  std::uint64_t verified_bytes() const {
    std::uint64_t bytes = 0;
    for (const RankResult& result : results_) bytes += result.verified_bytes;
    return bytes;
  }
  std::uint64_t bytes() const { return records_.size(); }
  bool has_only_files_of_its_own() const { return folder_.names().size() == 1 + volumes_; }
  /// The number of a write of records. The first write of a shared output is an invitation, which records replace.
  std::uint64_t draw_write() {
    const std::uint64_t first = ranks_ > 1 ? 2 : 1;
    return first + dice_.number() % (writes_ - first + 1);
  }

 private:
  std::vector<std::string> paths() const { return volume_names(folder_ / "out", volumes_); }
  static std::uint64_t writes() { return io::traffic().calls[static_cast<std::size_t>(io::Call::kWrite)]; }

  Dice dice_;
  RecordLayout layout_;
  int ranks_ = 1;
  std::size_t volumes_ = 1;
  std::size_t threads_ = 1;
  io::Access access_{};
  Bytes records_;
  Scratch folder_;
  std::vector<RankResult> results_;
  std::uint64_t writes_ = 0;
  std::uint64_t fired_ = 0;
};

TEST(VerifyOutput, bits_that_flip_after_a_write_are_found_before_publication) {
  const std::uint64_t flips = environment_number("HETSORT_TEST_WRITE_FLIPS", 20);
  for (std::uint64_t flip = 0; flip < flips; ++flip) {
    SCOPED_TRACE("HETSORT_TEST_SEED=" + std::to_string(test_seed()) + ", flip " + std::to_string(flip));
    VerifiedSort sort(case_seed(flip));
    ASSERT_EQ(sort.run(true), "");
    EXPECT_TRUE(sort.output_is_right());
    EXPECT_EQ(sort.verified_bytes(), sort.bytes());
    std::string conclusion;
    for (int tries = 0; sort.fired() == 0 && tries < 5; ++tries)
      conclusion = sort.run(true, "write:" + std::to_string(sort.draw_write()) + ":corrupt");
    EXPECT_EQ(sort.fired(), 1U);
    EXPECT_NE(conclusion.find("verify "), std::string::npos) << conclusion;
    EXPECT_NE(conclusion.find("other records than those written"), std::string::npos) << conclusion;
    EXPECT_TRUE(sort.output_is_old());
    EXPECT_TRUE(sort.has_only_files_of_its_own());
  }
}

TEST(VerifyOutput, without_it_such_bits_are_published) {
  VerifiedSort sort(test_seed());
  ASSERT_EQ(sort.run(false), "");
  EXPECT_EQ(sort.verified_bytes(), 0U);
  EXPECT_EQ(sort.run(false, "write:" + std::to_string(sort.writes_made()) + ":corrupt"), "");
  EXPECT_FALSE(sort.output_is_right());
}

TEST(VerifyOutput, an_error_while_reading_back_leaves_the_old_output) {
  VerifiedSort sort(test_seed());
  ASSERT_EQ(sort.run(true), "");
  const auto reads = io::traffic().calls[static_cast<std::size_t>(io::Call::kRead)];
  ASSERT_EQ(sort.run(true), "");
  const auto last = io::traffic().calls[static_cast<std::size_t>(io::Call::kRead)] - reads;
  EXPECT_NE(sort.run(true, "read:" + std::to_string(last) + ":EIO").find("Input/output error"), std::string::npos);
  EXPECT_TRUE(sort.output_is_old());
}

struct Shape {
  std::size_t record_bytes = 100;
  std::size_t records = 0;
  bool spills = false;
};

void PrintTo(const Shape& shape, std::ostream* stream) {
  *stream << shape.records << "_of_" << shape.record_bytes << "_bytes" << (shape.spills ? "_spilled" : "");
}

class VerifyOutputOf : public testing::TestWithParam<Shape> {};

TEST_P(VerifyOutputOf, any_size_of_records_and_output_is_accepted) {
  const Shape& shape = GetParam();
  const Scratch folder;
  const RecordLayout layout{
      .record_bytes = shape.record_bytes, .key_offset = 0, .key_bytes = std::min<std::size_t>(10, shape.record_bytes)};
  const Bytes records = make_records({Distribution::kUniform, layout, shape.records, test_seed()});
  write_bytes(folder / "in", records);
  for (const io::Access access : {io::Access::kAuto, io::Access::kThreads, io::Access::kBuffered}) {
    SortOptions options = sort_of_files({folder / "in"}, folder / "out", layout);
    options.output.paths = volume_names(folder / "out", access == io::Access::kThreads ? 3 : 1);
    options.spill.directories = {folder.path()};
    options.threads = 2;
    options.access = access;
    options.memory_bytes = shape.spills ? floor_memory(layout, 2) : std::uint64_t{256} << 20;
    options.output.verify = true;
    EXPECT_EQ(run_sort(options).verified_bytes, records.size());
    EXPECT_TRUE(is_sorted_form(read_volumes(options.output.paths, 0, layout.record_bytes), records, layout));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, VerifyOutputOf,
                         testing::Values(Shape{100, 0}, Shape{100, 1}, Shape{1, 4097}, Shape{4096, 300},
                                         Shape{99, 60'001}, Shape{1 << 20, 7}, Shape{100, 100'000, true},
                                         Shape{1 << 20, 12, true}),
                         testing::PrintToStringParamName());

TEST(VerifyOutput, streams_cannot_be_read_back) {
  const Scratch folder;
  write_bytes(folder / "in", Bytes(1000));
  SortOptions options = sort_of_files({folder / "in"}, "/dev/null", {});
  options.output.verify = true;
  EXPECT_EQ(io::test::message_of<io::Error>([&] { run_sort(options); }),
            "verify /dev/null: it cannot be read back; 'verify_output' needs a file, named by 'output'");
}

}  // namespace
}  // namespace hetsort::sort::test
