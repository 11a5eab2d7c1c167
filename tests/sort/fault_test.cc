// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the n-th file call of a sort fail, for n = 1, 2, 3 ... until a sort ends before the fault fires. The first
// HETSORT_TEST_DENSE calls are all tried, later ones in steps that are drawn from HETSORT_TEST_SEED.
//
// Corruption: the checksum of a spilled block must detect a bit that flips on its way to the disk or back. A bit that
// flips while input is read, before its fingerprint is computed, is indistinguishable from the input: the sort must
// treat it like any input. A bit of the output that flips on its way to the disk, after it was verified, cannot be
// detected; it must not change other bytes. The fault plan corrupts a copy of the written bytes, which io_uring and
// direct I/O do not use: only buffered writes are corrupted.
#include <array>
#include <cstring>

#include "io/calls/system_calls.h"
#include "sort/runs/form_runs.h"
#include "tests/machinery/fault_plan.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

enum class Way : std::uint8_t { kInMemory, kVolumes, kMapped, kSpilled, kManyPasses, kStreams };

void PrintTo(Way way, std::ostream* stream) {
  constexpr std::array kNames{"in_memory", "volumes", "mapped", "spilled", "many_passes", "streams"};
  *stream << kNames.at(static_cast<std::size_t>(way));
}

struct Outcome {
  std::string error;  // empty: success
  Bytes output;
  std::vector<Bytes> volumes;  // of a staged output
  RankResult result;
  std::uint64_t fired = 0;
};

const RecordLayout kLayout{.record_bytes = 100, .key_offset = 40, .key_bytes = 12};
constexpr std::size_t kFaultThreads = 2;

class FaultLoop : public testing::TestWithParam<std::tuple<Way, io::Access>> {
 protected:
  FaultLoop()
      : way_(std::get<0>(GetParam())),
        access_(std::get<1>(GetParam())),
        layout_(way_ == Way::kMapped ? RecordLayout{100, 40, 10} : kLayout),
        folder_(way_ == Way::kMapped ? io::test::memory_folder() : std::filesystem::temp_directory_path().string()),
        input_(make_records({Distribution::kUniform, layout_, records(), test_seed()})),
        expected_(reference_sort(input_, layout_)) {
    if (access_ == io::Access::kUring && !io::uring_available()) access_ = io::Access::kThreads;
    // One input is large enough for direct I/O and one is not; where inputs are mapped, both must be large.
    const std::size_t small = (way_ == Way::kMapped ? records() / 2 : 300) * layout_.record_bytes;
    write_bytes(folder_ / "small", std::span(input_).first(small));
    write_bytes(folder_ / "large", std::span(input_).subspan(small));
  }

  std::size_t records() const {
    return way_ == Way::kManyPasses ? 110'000 : way_ == Way::kStreams ? 60'000 : way_ == Way::kMapped ? 24'000 : 20'000;
  }
  bool in_memory() const { return way_ == Way::kInMemory || way_ == Way::kVolumes || way_ == Way::kMapped; }
  bool is_staged() const { return way_ != Way::kStreams; }

  SortOptions options() const {
    SortOptions options = sort_of_files({folder_ / "small", folder_ / "large"}, folder_ / "out", layout_);
    options.output.paths = volume_names(options.output.paths.front(), way_ == Way::kVolumes ? 2 : 1);
    options.memory_bytes = in_memory() ? std::uint64_t{32} << 20 : tight_memory();
    options.threads = way_ == Way::kStreams ? 1 : kFaultThreads;
    options.spill.directories = {temp_.path()};
    options.access = access_;
    options.output.sync = in_memory();
    return options;
  }
  std::uint64_t tight_memory() const { return way_ == Way::kSpilled ? 0 : floor_memory(layout_, kFaultThreads); }

  Outcome run(const std::string& plan) const {
    Outcome outcome;
    SortOptions asked = options();
    for (const std::string& path : asked.output.paths) write_bytes(path, old_output_);
    Pipe in;
    Pipe out;
    if (!is_staged()) {
      asked.input.paths = {in.read_from(input_)};
      asked.output.paths = {out.write_to()};
    }
    machinery::set_fault_plan(plan);
    try {
      outcome.result = run_sort(asked);
    } catch (const std::exception& error) {
      outcome.error = error.what();
      if (outcome.error.empty()) outcome.error = "an exception that says nothing";
    }
    outcome.fired = machinery::faults_fired();
    machinery::set_fault_plan("");
    in.finish();
    if (!is_staged()) outcome.output = out.finish();
    for (const std::string& path : asked.output.paths) {
      if (!is_staged()) break;
      outcome.volumes.push_back(read_bytes(path));
      outcome.output.insert(outcome.output.end(), outcome.volumes.back().begin(), outcome.volumes.back().end());
    }
    return outcome;
  }

  /// Makes the n-th call of each of `kinds` fail and calls judge(outcome, n) for every sort in which a fault fired.
  template <typename Judge>
  void loop(const std::vector<std::string>& kinds, const std::string& fault, const Judge& judge) const {
    std::mt19937_64 random(test_seed());
    const std::uint64_t dense = environment_number("HETSORT_TEST_DENSE", dense_calls());
    for (std::uint64_t n = 1;; n = next_call(n, dense, random)) {
      std::string plan;
      for (const std::string& kind : kinds)
        plan += (plan.empty() ? "" : ",") + kind + ":" + std::to_string(n) + ":" + fault;
      SCOPED_TRACE(plan);
      const Outcome outcome = run(plan);
      EXPECT_TRUE(temp_.names().empty());
      std::set<std::string> names{"small", "large"};
      for (const std::string& path : options().output.paths) names.insert(path.substr(path.rfind('/') + 1));
      EXPECT_EQ(folder_.names(), names);
      if (outcome.fired == 0) {
        EXPECT_EQ(outcome.error, "");
        EXPECT_TRUE(outcome.output == expected_);
        return;
      }
      judge(outcome, n);
      if (HasFailure()) return;
    }
  }
  std::uint64_t dense_calls() const {
    if (kSanitized) return 3;
    return in_memory() ? 40 : way_ == Way::kManyPasses ? 4 : 16;
  }

  /// Expects valid output, or the old output and an error that names operation, path and reason.
  void expect_all_or_nothing(const Outcome& outcome, const std::string& reason) const {
    if (outcome.error.empty()) {
      EXPECT_TRUE(outcome.output == expected_) << "succeeded with wrong output";
      return;
    }
    const auto says = [&](const char* text) { return outcome.error.find(text) != std::string::npos; };
    std::size_t placed = says("the output is in place and whole") ? 1 : 0;
    if (says("in place already: ")) ++placed;
    for (std::size_t volume = 0; volume < outcome.volumes.size(); ++volume)
      EXPECT_TRUE(outcome.volumes[volume] == (volume < placed ? expected_volume(volume) : old_output_))
          << "volume " << volume << ": " << outcome.error;
    EXPECT_NE(outcome.error.find(reason), std::string::npos) << outcome.error;
    EXPECT_TRUE(names_operation_and_path(outcome.error)) << outcome.error;
  }

  Bytes expected_volume(std::size_t volume) const {
    const std::size_t volumes = options().output.paths.size();
    const std::vector<std::uint64_t> parts = equal_parts(records(), volumes);
    const auto first =
        std::accumulate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(volume), std::size_t{0});
    const auto bytes = std::span(expected_).subspan(first * layout_.record_bytes, parts[volume] * layout_.record_bytes);
    return {bytes.begin(), bytes.end()};
  }

  bool names_operation_and_path(const std::string& message) const {
    for (const std::string& path : {folder_.path(), temp_.path(), std::string("/proc/self/fd/")}) {
      const std::size_t at = message.find(path);
      if (at != std::string::npos && at > 0 && message.find(": ", at) != std::string::npos) return true;
    }
    return false;
  }

  const Way way_;
  io::Access access_;
  const RecordLayout layout_;
  Scratch folder_;
  Scratch temp_;
  Bytes input_;
  Bytes expected_;
  Bytes old_output_ = Bytes(777, std::byte{'o'});
};

TEST_P(FaultLoop, a_failing_call_is_an_error_and_leaves_the_old_output) {
  SCOPED_TRACE(seed_note());
  const auto expect = [&](const std::string& kind, const std::string& fault, const std::string& reason) {
    loop({kind}, fault, [&](const Outcome& outcome, std::uint64_t) { expect_all_or_nothing(outcome, reason); });
  };
  expect("read", "EIO", "Input/output error");
  expect("write", "ENOSPC", "No space left on device");
  if (way_ == Way::kMapped)
    loop({"read"}, "EFAULT", [&](const Outcome& outcome, std::uint64_t n) {
      // The first bytes of each input are read before it is mapped.
      expect_all_or_nothing(outcome, n <= options().input.paths.size() ? "Bad address" : "truncated while it was read");
    });
  if (way_ == Way::kManyPasses) return;
  expect("write", "EIO", "Input/output error");
  for (const char* const kind : {"open", "sync", "allocate", "truncate", "link", "rename", "stat", "chmod", "map"})
    expect(kind, "EIO", "Input/output error");
  for (const char* const kind : {"open", "allocate", "link", "rename"})
    expect(kind, "ENOSPC", "No space left on device");
}

TEST_P(FaultLoop, short_and_interrupted_calls_change_nothing) {
  SCOPED_TRACE(seed_note());
  const auto expect_nothing = [&](const Outcome& outcome, std::uint64_t) {
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.output == expected_);
  };
  loop({"read", "write"}, "short", expect_nothing);
  // Not kStat: fstat() is never interrupted.
  loop({"read", "write", "open", "sync", "allocate", "truncate", "link", "rename", "chmod"}, "EINTR", expect_nothing);
}

TEST_P(FaultLoop, random_short_and_interrupted_calls_change_nothing) {
  for (const char* const plan : {"read:~3:short,write:~3:EINTR", "read:~2:EINTR,write:~4:short"}) {
    const Outcome outcome = run(plan);
    EXPECT_EQ(outcome.error, "") << plan;
    EXPECT_GT(outcome.fired, 0U);
    EXPECT_TRUE(outcome.output == expected_) << plan;
  }
}

TEST_P(FaultLoop, calls_that_fail_from_some_point_on_are_an_error) {
  for (const char* const plan : {"write:5+:ENOSPC", "read:2+:EIO"}) {
    SCOPED_TRACE(plan);
    const Outcome outcome = run(plan);
    EXPECT_NE(outcome.error, "");
    expect_all_or_nothing(outcome, std::string_view(plan).starts_with("write") ? "No space left" : "Input/output");
  }
}

/// Sanitizers try only the one that has threads.
std::vector<io::Access> back_ends(const std::vector<io::Access>& all) {
  return kSanitized ? std::vector{io::Access::kThreads} : all;
}

INSTANTIATE_TEST_SUITE_P(Ways, FaultLoop,
                         testing::Combine(testing::Values(Way::kInMemory, Way::kSpilled),
                                          testing::ValuesIn(back_ends({io::Access::kAuto, io::Access::kUring,
                                                                       io::Access::kThreads, io::Access::kBuffered}))));
INSTANTIATE_TEST_SUITE_P(Volumes, FaultLoop,
                         testing::Combine(testing::Values(Way::kVolumes),
                                          testing::ValuesIn(back_ends({io::Access::kAuto, io::Access::kBuffered}))));
INSTANTIATE_TEST_SUITE_P(Mapped, FaultLoop,
                         testing::Combine(testing::Values(Way::kMapped), testing::Values(io::Access::kAuto)));
INSTANTIATE_TEST_SUITE_P(ManyPasses, FaultLoop,
                         testing::Combine(testing::Values(Way::kManyPasses),
                                          testing::ValuesIn(back_ends({io::Access::kUring, io::Access::kThreads,
                                                                       io::Access::kBuffered}))));
INSTANTIATE_TEST_SUITE_P(Streams, FaultLoop,
                         testing::Combine(testing::Values(Way::kStreams),
                                          testing::ValuesIn(back_ends({io::Access::kAuto, io::Access::kThreads}))));

/// In how many bits two byte strings of equal length differ.
std::size_t different_bits(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::size_t bits = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    bits += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(a[i] ^ b[i])));
  return bits;
}

class Corruption : public FaultLoop {
 protected:
  static std::uint64_t read_calls() { return io::traffic().calls[static_cast<std::size_t>(io::Call::kRead)]; }
  /// Read calls of a sort.
  std::uint64_t all_reads() const {
    const std::uint64_t before = read_calls();
    run("");
    return read_calls() - before;
  }
  /// Read calls before the first spilled block is read.
  std::uint64_t input_reads() const {
    const SortOptions asked = options();
    const std::uint64_t before = read_calls();
    Input input(asked.input.paths, {.record_bytes = layout_.record_bytes}, asked.access);
    const Bench bench(layout_, input, asked.memory_bytes, asked.threads, asked.access);
    ListedSegments whole({{0, input.total_bytes(), 0}});
    const FormedRuns runs = form_runs(input, bench.context(), asked.spill, whole);
    return read_calls() - before;
  }

  /// Expects the output for an input in which one bit is flipped: sorted, and all records but one unchanged.
  void expect_one_record_changed(const Outcome& outcome) const {
    EXPECT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.output.size(), expected_.size());
    EXPECT_TRUE(detail::keys_ascend(outcome.output, layout_));
    const auto records_of = [this](const Bytes& bytes) {
      std::multiset<std::string> records;
      for (std::size_t at = 0; at < bytes.size(); at += layout_.record_bytes)
        records.emplace(reinterpret_cast<const char*>(bytes.data()) + at, layout_.record_bytes);
      return records;
    };
    std::vector<std::string> lost;
    std::ranges::set_difference(records_of(expected_), records_of(outcome.output), std::back_inserter(lost));
    EXPECT_LE(lost.size(), 1U);
  }
};

class CorruptRead : public Corruption {};

TEST_P(CorruptRead, is_found_in_spilled_blocks) {
  SCOPED_TRACE(seed_note());
  const std::uint64_t of_input = input_reads();
  std::size_t found = 0;
  std::size_t harmless = 0;
  const auto judge = [&](const Outcome& outcome, std::uint64_t n) {
    if (n <= of_input) return expect_one_record_changed(outcome);
    // The splitter selection reads single keys. A wrong key makes a wrong cut, which the order check finds.
    const bool named = outcome.error.find("corrupt block") != std::string::npos;
    found += named ? 1 : 0;
    harmless += outcome.error.empty() ? 1 : 0;
    EXPECT_TRUE(named || outcome.error.empty() || outcome.error.find("not in order") != std::string::npos)
        << outcome.error;
    EXPECT_TRUE(outcome.output == (outcome.error.empty() ? expected_ : old_output_)) << outcome.error;
  };
  loop({"read"}, "corrupt", judge);
  if (way_ == Way::kInMemory) return;
  // The last reads are of blocks that are merged.
  constexpr std::uint64_t kLastReads = 16;
  const std::uint64_t all = all_reads();
  for (std::uint64_t n = all - std::min(kLastReads, all - of_input) + 1; n <= all; ++n)
    judge(run("read:" + std::to_string(n) + ":corrupt"), n);
  EXPECT_GT(found, 0U);
  // Padding behind the records of a run's last block, and keys that change no cut.
  EXPECT_LE(harmless, found);
}

class CorruptWrite : public Corruption {};

TEST_P(CorruptWrite, is_found_in_spilled_blocks_and_does_not_spread_in_the_output) {
  SCOPED_TRACE(seed_note());
  const Outcome clean = run("");
  const Input input(options().input.paths, {.record_bytes = layout_.record_bytes}, access_);
  const Bench bench(layout_, input, options().memory_bytes, options().threads);
  const std::uint64_t spilled =
      way_ == Way::kInMemory ? 0 : clean.result.bytes_spilled / bench.context().plan.spill_block_bytes;
  EXPECT_EQ(spilled > 0, way_ != Way::kInMemory);
  std::size_t found = 0;
  loop({"write"}, "corrupt", [&](const Outcome& outcome, std::uint64_t n) {
    if (n > spilled) {
      EXPECT_EQ(outcome.error, "");
      ASSERT_EQ(outcome.output.size(), expected_.size());
      EXPECT_LE(different_bits(outcome.output, expected_), 1U);
      return;
    }
    found += outcome.error.empty() ? 0 : 1;
    if (!outcome.error.empty()) {
      EXPECT_NE(outcome.error.find("corrupt block"), std::string::npos) << outcome.error;
    }
    EXPECT_TRUE(outcome.output == (outcome.error.empty() ? expected_ : old_output_)) << outcome.error;
  });
  EXPECT_EQ(found > 0, spilled > 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, CorruptRead,
                         testing::Combine(testing::Values(Way::kInMemory, Way::kSpilled, Way::kManyPasses),
                                          testing::ValuesIn(back_ends({io::Access::kAuto, io::Access::kThreads,
                                                                       io::Access::kBuffered}))));
INSTANTIATE_TEST_SUITE_P(Ways, CorruptWrite,
                         testing::Combine(testing::Values(Way::kInMemory, Way::kSpilled, Way::kManyPasses),
                                          testing::Values(io::Access::kBuffered)));

}  // namespace
}  // namespace hetsort::sort::test
