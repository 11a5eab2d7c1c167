// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares whole sorts on one rank with the oracle, for a random sample of all combinations of inputs, memory and
// outputs. HETSORT_TEST_SEED draws another sample, HETSORT_TEST_CASES sets its size.
#include <fcntl.h>
#include <sys/stat.h>

#include <sstream>

#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

enum class Memory : std::uint8_t { kAmple, kTight };
enum class Source : std::uint8_t { kOneFile, kSeveralFiles, kThreeEqualFiles, kSameFileTwice, kPipe, kFifoAndFiles };
enum class Destination : std::uint8_t { kNewFile, kExistingFile, kOneOfTheInputs, kPipe };

struct Scenario {
  InputRequest input;
  Memory memory{};
  std::uint64_t max_merged_runs = 1000;
  std::size_t threads = 1;
  io::Access access{};
  Source source{};
  Destination destination{};
  std::size_t header_bytes = 0;                                          ///< header of every input
  std::size_t volumes = 1;                                               ///< files of the output
  bool unique = false;                                                   ///< only the first of equal records is written
  bool lines = false;                                                    ///< the records are lines of equal length
  std::string parent = std::filesystem::temp_directory_path().string();  ///< folder of input and output

  /// What the sort is told: for lines it is not told their length.
  RecordLayout told_layout() const { return lines ? plain_lines() : input.layout; }
  bool reads_stream() const { return source == Source::kPipe || source == Source::kFifoAndFiles; }
};

std::string describe(const Scenario& scenario) {
  std::ostringstream text;
  const RecordLayout& layout = scenario.input.layout;
  text << name_of(scenario.input.distribution) << ", " << scenario.input.records << " records of "
       << layout.record_bytes << " bytes behind a header of " << scenario.header_bytes << ", key " << key_text(layout)
       << ", " << (scenario.memory == Memory::kAmple ? "ample" : "tight") << " memory, " << scenario.threads
       << " threads, io " << io::name_of(scenario.access) << ", source " << static_cast<int>(scenario.source)
       << ", destination " << static_cast<int>(scenario.destination) << " of " << scenario.volumes << " files"
       << (scenario.unique ? ", unique" : "") << (scenario.lines ? ", lines" : "");
  return text.str();
}

// Limits of the cases of one sample, for the time they take.
constexpr std::size_t kMaxBytes = kSanitized ? std::size_t{3} << 20 : std::size_t{12} << 20;

class Draw : public Dice {
 public:
  using Dice::Dice;

  Scenario scenario() {
    Scenario drawn;
    RecordLayout& layout = drawn.input.layout;
    layout.record_bytes = one_of<std::size_t>({1, 4, 16, 99, 100, 100, 257, 1001, 4096, 5000, kMaxRecordBytes});
    const std::size_t most_key = std::min<std::size_t>(layout.record_bytes, kMaxKeyBytes);
    layout.key_bytes = std::min(one_of<std::size_t>({1, 3, 10, 10, 11, 40, 4096, most_key}), most_key);
    const std::size_t room = layout.record_bytes - layout.key_bytes;
    layout.key_offset = one_of<std::size_t>({0, room / 2, room});
    drawn.input.distribution = one_of(kDistributions);
    drawn.input.records = std::min(one_of<std::size_t>({0, 1, 2, 3, 1000, 100'000, 100'000, 100'000}),
                                   std::max(kMaxBytes, 8 * layout.record_bytes) / layout.record_bytes);
    drawn.input.seed = number();
    drawn.memory = one_of({Memory::kAmple, Memory::kTight, Memory::kTight});
    drawn.threads = one_of<std::size_t>({1, 2, 4});
    drawn.max_merged_runs = one_of<std::uint64_t>({2, 3, 5, 1000, 1000, 1000});
    drawn.access = one_of({io::Access::kAuto, io::Access::kUring, io::Access::kThreads, io::Access::kBuffered});
    if (drawn.access == io::Access::kUring && !io::uring_available()) drawn.access = io::Access::kThreads;
    drawn.source = one_of({Source::kOneFile, Source::kSeveralFiles, Source::kSeveralFiles, Source::kSameFileTwice,
                           Source::kPipe, Source::kFifoAndFiles});
    drawn.destination =
        one_of({Destination::kNewFile, Destination::kExistingFile, Destination::kOneOfTheInputs, Destination::kPipe});
    drawn.header_bytes = one_of<std::size_t>({0, 0, 1, 128, 4096, 5000});
    if (number() % 3 == 0) layout = draw_typed_layout(*this, layout.record_bytes);
    drawn.unique = number() % 4 == 0;
    drawn.lines = number() % 3 == 0 && layout.record_bytes <= 5000;
    if (drawn.lines) layout = {layout.record_bytes, 0, std::max<std::size_t>(1, layout.record_bytes - 1)};
    if (drawn.destination != Destination::kPipe && !drawn.unique) drawn.volumes = one_of<std::size_t>({1, 1, 2, 3, 7});
    return drawn;
  }

  /// Memory that is not a round number: nothing may rely on that.
  std::uint64_t memory_bytes(const Scenario& scenario) {
    const std::uint64_t least = floor_memory(scenario.told_layout(), scenario.threads) + number() % 10'000;
    if (scenario.memory == Memory::kAmple) return least + 8 * kMaxBytes + 24 * scenario.input.records;
    // With the least memory all threads form runs together; with some more, each forms its own.
    return least + number() % 2 * scenario.threads * (std::size_t{4} << 20);
  }
};

/// Makes a line of each record: its last byte becomes the only newline.
Bytes as_lines(Bytes records, std::size_t record_bytes) {
  std::ranges::replace(records, std::byte{'\n'}, std::byte{' '});
  end_as_lines(records, record_bytes);
  return records;
}

/// The inputs of one scenario: files, and at most one stream among them.
class Inputs {
 public:
  Inputs(const Scenario& scenario, const Scratch& folder, std::mt19937_64 random)
      : bytes_(scenario.lines ? as_lines(make_records(scenario.input), scenario.input.layout.record_bytes)
                              : make_records(scenario.input)),
        header_bytes_(scenario.header_bytes),
        folder_(folder) {
    std::size_t record = 0;
    const std::size_t records = scenario.input.records;
    const auto upto = [&](std::size_t share) { return std::min(records, record + share); };
    const auto take = [&](std::size_t end) {
      const std::size_t size = scenario.input.layout.record_bytes;
      const auto part = std::span(bytes_).subspan(record * size, (end - record) * size);
      record = end;
      return part;
    };
    switch (scenario.source) {
      case Source::kOneFile:
        add_file(bytes_);
        return;
      case Source::kSameFileTwice: {
        add_file(bytes_);
        paths_.push_back(paths_.front());
        const Bytes once = bytes_;
        bytes_.insert(bytes_.end(), once.begin(), once.end());
        return;
      }
      case Source::kPipe:
        streamed_ = with_header(make_header(header_bytes_, 0), bytes_);
        paths_.push_back(pipe_.read_from(streamed_));
        return;
      case Source::kSeveralFiles:
        // Large parts are read with direct I/O, small ones buffered, both into the same memory.
        add_file({});
        for (int part = 0; part < 3; ++part) {
          add_file(take(upto(random() % (records / 3 + 1))));
          add_file(take(upto(random() % 50)));
        }
        add_file(take(records));
        add_file({});
        return;
      case Source::kThreeEqualFiles:
        for (int part = 0; part < 2; ++part) add_file(take(upto(records / 3)));
        add_file(take(records));
        return;
      case Source::kFifoAndFiles:
        add_file(take(upto(random() % (records / 2 + 1))));
        add_fifo(take(upto(random() % (records / 2 + 1))));
        add_file(take(records));
        return;
    }
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  ~Inputs() {
    pipe_.finish();
    if (feeder_.joinable()) feeder_.join();
  }

  const Bytes& bytes() const { return bytes_; }
  const std::vector<std::string>& paths() const { return paths_; }
  /// A file among them that is not empty, if there is one.
  std::string some_file() const {
    for (const std::string& path : paths_)
      if (path.starts_with(folder_.path()) && path.find("fifo") == std::string::npos) return path;
    return folder_ / "out";
  }

 private:
  void add_file(std::span<const std::byte> bytes) {
    const std::size_t number = paths_.size();
    paths_.push_back(folder_ / ("in" + std::to_string(number)));
    write_bytes(paths_.back(), with_header(make_header(header_bytes_, number), bytes));
  }
  void add_fifo(std::span<const std::byte> bytes) {
    paths_.push_back(folder_ / "fifo");
    if (::mkfifo(paths_.back().c_str(), 0600) != 0) std::abort();
    streamed_ = with_header(make_header(header_bytes_, paths_.size()), bytes);
    feeder_ = std::thread([this, path = paths_.back()] { feed(::open(path.c_str(), O_WRONLY), streamed_); });
  }

  Bytes bytes_;
  Bytes streamed_;  // header and records of a pipe or FIFO
  std::size_t header_bytes_;
  const Scratch& folder_;
  std::vector<std::string> paths_;
  Pipe pipe_;
  std::thread feeder_;
};

/// Sorts, and compares the output with the oracle's. Returns the sort's result.
RankResult sort_and_judge(const Scenario& scenario, std::uint64_t memory_bytes) {
  SCOPED_TRACE(describe(scenario) + ", memory " + std::to_string(memory_bytes));
  const Scratch folder(scenario.parent);
  const Scratch temp;
  Inputs inputs(scenario, folder, std::mt19937_64(scenario.input.seed));
  Pipe pipe;
  const RecordLayout& layout = scenario.input.layout;
  SortOptions options = sort_of_files(inputs.paths(), folder / "out", scenario.told_layout());
  options.memory_bytes = memory_bytes;
  options.input.header.bytes = scenario.header_bytes;
  options.output.unique = scenario.unique;
  options.threads = scenario.threads;
  options.spill.directories = {temp.path(), temp.path()};
  options.spill.max_merged_runs = scenario.max_merged_runs;
  options.access = scenario.access;
  options.output.sync = scenario.input.seed % 4 == 0;
  if (scenario.destination == Destination::kExistingFile) write_bytes(options.output.paths.front(), Bytes(12345));
  if (scenario.destination == Destination::kOneOfTheInputs) options.output.paths = {inputs.some_file()};
  const bool to_pipe = scenario.destination == Destination::kPipe;
  if (to_pipe) options.output.paths = {pipe.write_to()};
  if (scenario.volumes > 1) options.output.paths = volume_names(options.output.paths.front(), scenario.volumes);
  RankResult result;
  try {
    result = run_sort(options);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw: " << error.what();
  }
  Bytes output;
  if (to_pipe) {
    output = pipe.finish();
    take_header(output, scenario.header_bytes);
  } else {
    output = read_volumes(options.output.paths, scenario.header_bytes, layout.record_bytes, scenario.lines);
  }
  EXPECT_TRUE(is_written_form(output, inputs.bytes(), layout, scenario.unique));
  EXPECT_EQ(result.input.records, inputs.bytes().size() / layout.record_bytes);
  EXPECT_EQ(result.input, result.output);
  EXPECT_TRUE(temp.names().empty());
  std::set<std::string> expected;
  for (const std::string& path : inputs.paths())
    if (path.starts_with(folder.path())) expected.insert(path.substr(folder.path().size() + 1));
  for (const std::string& path : options.output.paths)
    if (!to_pipe) expected.insert(path.substr(folder.path().size() + 1));
  EXPECT_EQ(folder.names(), expected);
  return result;
}

class SortRecords : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SortRecords, equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  Draw draw(case_seed(GetParam()));
  const Scenario scenario = draw.scenario();
  const RankResult result = sort_and_judge(scenario, draw.memory_bytes(scenario));
  if (scenario.memory == Memory::kAmple) {
    EXPECT_TRUE(result.in_memory) << describe(scenario);
  }
}

INSTANTIATE_TEST_SUITE_P(Sample, SortRecords, cases(240, 40));

class ManyRuns : public testing::TestWithParam<std::tuple<RecordLayout, std::size_t, io::Access>> {};

TEST_P(ManyRuns, are_merged_in_a_further_pass) {
  SCOPED_TRACE(seed_note());
  Draw draw(test_seed());
  Scenario scenario;
  scenario.input = {Distribution::kFewKeys, std::get<0>(GetParam()), 0, draw.number()};
  if (!prefix_is_whole_key(scenario.input.layout)) scenario.input.distribution = Distribution::kSharedPrefix;
  scenario.memory = Memory::kTight;
  scenario.threads = std::get<1>(GetParam());
  // So many times the memory, which grows with the threads, that nothing stays there.
  scenario.input.records = scenario.threads * (std::size_t{13} << 20) / scenario.input.layout.record_bytes;
  scenario.access = std::get<2>(GetParam());
  scenario.max_merged_runs = 3;
  const RankResult result = sort_and_judge(scenario, floor_memory(scenario.input.layout, scenario.threads));
  EXPECT_GT(result.runs, scenario.max_merged_runs);
  EXPECT_GT(result.bytes_spilled, scenario.input.records * scenario.input.layout.record_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ManyRuns,
    testing::Combine(testing::Values(RecordLayout{100, 0, 10}, RecordLayout{100, 30, 40}, RecordLayout{1001, 990, 11}),
                     testing::ValuesIn(kSanitized ? std::vector<std::size_t>{2} : std::vector<std::size_t>{1, 2}),
                     testing::ValuesIn(kSanitized ? std::vector{io::Access::kThreads}
                                                  : std::vector{io::Access::kAuto, io::Access::kThreads,
                                                                io::Access::kBuffered})));

/// The plan of a sort of one file of so many records.
MemoryPlan plan_of(const RecordLayout& layout, std::size_t records, std::uint64_t memory_bytes, std::size_t threads) {
  MemoryRequest request{.layout = layout, .memory_bytes = memory_bytes, .threads = threads};
  request.input_bytes = records * layout.record_bytes;
  request.placed_bytes = round_up(request.input_bytes, kPageBytes);
  return plan_memory(request);
}

/// How many records memory holds.
std::size_t records_that_fit(const RecordLayout& layout, std::uint64_t memory_bytes, std::size_t threads) {
  std::size_t low = 0;
  std::size_t high = memory_bytes / layout.record_bytes;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (plan_of(layout, middle, memory_bytes, threads).in_memory)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

class InputBeyondMemory : public testing::TestWithParam<std::tuple<RecordLayout, std::size_t, std::size_t>> {};

TEST_P(InputBeyondMemory, spills_what_does_not_fit_and_a_run) {
  SCOPED_TRACE(seed_note());
  const auto& [layout, threads, percent] = GetParam();
  constexpr std::uint64_t kMemoryBytes = (kSanitized ? std::uint64_t{10} : std::uint64_t{20}) << 20;
  const std::size_t fits = records_that_fit(layout, kMemoryBytes, threads);
  Dice dice(case_seed(percent));
  Scenario scenario;
  scenario.input = {dice.one_of(kDistributions), layout, fits + fits * percent / 100, dice.number()};
  scenario.threads = threads;
  scenario.access = dice.one_of({io::Access::kAuto, io::Access::kThreads, io::Access::kBuffered});
  scenario.source = dice.one_of({Source::kOneFile, Source::kThreeEqualFiles});
  scenario.destination = dice.one_of({Destination::kNewFile, Destination::kOneOfTheInputs, Destination::kPipe});
  const RankResult result = sort_and_judge(scenario, kMemoryBytes);
  const MemoryPlan plan = plan_of(layout, scenario.input.records, kMemoryBytes, threads);
  EXPECT_FALSE(result.in_memory);
  EXPECT_EQ(result.runs_in_memory, 1U);
  // The last block of each run, and the end of each block, are padded.
  const std::uint64_t beyond = (scenario.input.records - fits) * layout.record_bytes;
  EXPECT_GE(result.bytes_spilled, beyond);
  EXPECT_LE(result.bytes_spilled, beyond + beyond / 100 * 15 + plan.run_bytes + result.runs * plan.spill_block_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, InputBeyondMemory,
    testing::Combine(testing::Values(RecordLayout{100, 0, 10}, RecordLayout{100, 30, 40}, RecordLayout{1000, 990, 10}),
                     testing::ValuesIn(kSanitized ? std::vector<std::size_t>{2} : std::vector<std::size_t>{1, 2}),
                     testing::ValuesIn(kSanitized ? std::vector<std::size_t>{5, 100}
                                                  : std::vector<std::size_t>{1, 5, 25, 100, 300})));

TEST(StreamAmongFiles, that_do_not_fit_spills_as_a_whole) {
  SCOPED_TRACE(seed_note());
  constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 20;
  Scenario scenario;
  scenario.input = {Distribution::kUniform, {100, 0, 10}, 3 * kMemoryBytes / 100, test_seed()};
  scenario.threads = 2;
  scenario.source = Source::kFifoAndFiles;
  const RankResult result = sort_and_judge(scenario, kMemoryBytes);
  EXPECT_EQ(result.runs_in_memory, 0U);
  EXPECT_GE(result.bytes_spilled, scenario.input.records * scenario.input.layout.record_bytes);
}

TEST(DirectInput, of_records_that_never_end_at_pages_is_read_without_reading_a_page_in_use) {
  // ThreadSanitizer detects a read into a page that another thread reads into or uses.
  for (const std::size_t records : {4000U, 20'000U})
    for (const Memory memory : {Memory::kAmple, Memory::kTight}) {
      Scenario scenario;
      scenario.input = {Distribution::kUniform, {1001, 3, 10}, records, test_seed()};
      scenario.memory = memory;
      scenario.threads = 2;
      scenario.access = io::Access::kThreads;
      const std::uint64_t tight = floor_memory(scenario.input.layout, 2);
      const RankResult result = sort_and_judge(scenario, memory == Memory::kTight ? tight : std::uint64_t{64} << 20);
      EXPECT_EQ(result.in_memory, memory == Memory::kAmple);
    }
}

/// In memory, by two threads.
void sort_directly(const RecordLayout& layout, std::size_t records, std::uint64_t memory_bytes) {
  Scenario scenario;
  scenario.input = {Distribution::kUniform, layout, records, test_seed()};
  scenario.threads = 2;
  scenario.access = io::Access::kThreads;
  EXPECT_TRUE(sort_and_judge(scenario, memory_bytes).in_memory);
}

TEST(DirectInput, of_small_records_is_sampled_without_reading_a_page_in_use) {
  sort_directly({16, 0, 16}, 100'000, std::uint64_t{64} << 20);
}

TEST(DirectInput, of_large_records_is_sampled_at_the_places_of_the_records) {
  // Two buckets, and an index that is too small to hold the sample.
  sort_directly({5500, 0, 10}, 33'000, std::uint64_t{256} << 20);
}

class MappedInput : public testing::TestWithParam<Distribution> {};

TEST_P(MappedInput, equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  // The last record ends within a page, at a page's end, or is alone in a page. Three files of at least a mebibyte
  // each. Sanitized tests try each of them, and each destination, once.
  int number = 0;
  for (const auto& [layout, records] :
       {std::pair(RecordLayout{100, 0, 10}, 34'001U), std::pair(RecordLayout{16, 10, 6}, 3 * 65'536U),
        std::pair(RecordLayout{4096, 4086, 10}, 3 * 256U)})
    for (const Destination destination : {Destination::kNewFile, Destination::kOneOfTheInputs, Destination::kPipe}) {
      if (number++ % 4 != 0 && kSanitized) continue;
      Scenario scenario;
      scenario.input = {GetParam(), layout, records, test_seed()};
      scenario.threads = 2;
      scenario.source = Source::kThreeEqualFiles;
      scenario.destination = destination;
      scenario.parent = io::test::memory_folder();
      EXPECT_TRUE(sort_and_judge(scenario, std::uint64_t{64} << 20).in_memory);
    }
}

/// Under sanitizers those that differ most.
std::vector<Distribution> mapped_distributions() {
  if (kSanitized)
    return {Distribution::kUniform, Distribution::kAllEqual, Distribution::kSharedPrefix, Distribution::kSkewed};
  return {kDistributions.begin(), kDistributions.end()};
}

INSTANTIATE_TEST_SUITE_P(Distributions, MappedInput, testing::ValuesIn(mapped_distributions()),
                         [](const auto& each) { return std::string(name_of(each.param)); });

class LargeSort : public testing::TestWithParam<std::tuple<Distribution, RecordLayout, bool, io::Access>> {};

TEST_P(LargeSort, of_a_million_records_is_exact) {
  SCOPED_TRACE(seed_note());
  const auto& [distribution, layout, spilled, access] = GetParam();
  Scenario scenario;
  scenario.input = {distribution, layout, kSanitized ? 100'000U : 1'000'000U, 4 * test_seed()};
  scenario.memory = spilled ? Memory::kTight : Memory::kAmple;
  scenario.threads = 2;
  scenario.access = access;
  scenario.source = Source::kSeveralFiles;
  const std::uint64_t tight = kSanitized ? floor_memory(layout, 2) : std::uint64_t{12} << 20;
  const RankResult result = sort_and_judge(scenario, spilled ? tight : std::uint64_t{256} << 20);
  EXPECT_EQ(result.in_memory, !spilled);
}

// Outputs of 64 MiB and more are written with direct I/O.
INSTANTIATE_TEST_SUITE_P(
    Sorts, LargeSort,
    testing::Values(std::tuple(Distribution::kUniform, RecordLayout{100, 0, 10}, false, io::Access::kThreads),
                    std::tuple(Distribution::kZipf, RecordLayout{99, 89, 10}, true, io::Access::kAuto),
                    std::tuple(Distribution::kDeepTies, RecordLayout{67, 7, 60}, false, io::Access::kAuto),
                    std::tuple(Distribution::kAllEqual, RecordLayout{16, 3, 13}, true, io::Access::kBuffered),
                    std::tuple(Distribution::kFewKeys, RecordLayout{4, 1, 1}, false, io::Access::kBuffered)));

}  // namespace
}  // namespace hetsort::sort::test
