// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares whole sorts on several ranks with the oracle, for a random sample of all combinations of inputs, plans,
// modes and outputs: on 1 to 8 ranks in one process and, from the same source, under mpirun, many sorts in one job.
// HETSORT_TEST_SEED draws another sample, HETSORT_TEST_CASES sets its size.
#include <mutex>
#include <optional>

#include "tests/sort/scenario.h"

namespace hetsort::sort::test {
namespace {

/// The files of a job before and after it. Only the process of rank 0 has them.
class Stage {
 public:
  /// Every second job has its files in memory, where large inputs are mapped instead of read.
  explicit Stage(const Scenario& scenario)
      : scenario_(scenario),
        records_(make_records(scenario.input)),
        folder_(scenario.input.seed % 2 == 0 ? io::test::memory_folder()
                                             : std::filesystem::temp_directory_path().string()) {
    const std::size_t record_bytes = scenario.input.layout.record_bytes;
    const std::vector<std::uint64_t> spread = spread_records(scenario);
    std::size_t first = 0;
    for (std::size_t rank = 0; rank < spread.size() && !has_one_input(scenario); ++rank) {
      const std::string name = "in." + std::to_string(rank);
      const std::size_t bytes = spread[rank] * record_bytes;
      write_bytes(folder_ / name,
                  with_header(make_header(scenario.header_bytes, rank), std::span(records_).subspan(first, bytes)));
      names_.insert(name);
      first += bytes;
    }
    input_ = folder_ / (has_one_input(scenario) ? "in" : "in.{rank}");
    if (has_one_input(scenario)) one_input_ = with_header(make_header(scenario.header_bytes, 0), records_);
    if (scenario.spread == Spread::kRootPipe) {
      input_ = input_pipe_.read_from(one_input_);
    } else if (has_one_input(scenario)) {
      write_bytes(input_, one_input_);
      names_.insert("in");
    }
    output_ = scenario.destination == Destination::kPipe ? output_pipe_.write_to()
                                                         : folder_ / (has_one_output(scenario) ? "out" : "out.{rank}");
  }

  /// The paths of input, output and temporary folder as one message, separated by zeros.
  Bytes paths() const {
    const std::string text = input_ + '\0' + output_ + '\0' + temp_.path();
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  void judge() {
    const std::vector<std::uint64_t> sizes = judge_contents();
    if (sizes.empty()) return;
    EXPECT_EQ(sizes, plan_records(scenario_));
  }

  /// Whatever the shares are; returns those of the files in records, if each rank has one.
  std::vector<std::uint64_t> judge_contents() {
    Bytes output;
    std::vector<std::uint64_t> sizes;
    if (scenario_.destination == Destination::kPipe) {
      output = output_pipe_.finish();
      take_header(output, scenario_.header_bytes);
    } else if (has_one_output(scenario_)) {
      output = read_output("out");
    } else {
      for (int rank = 0; rank < scenario_.ranks; ++rank) {
        SCOPED_TRACE("rank " + std::to_string(rank));
        const Bytes own = read_output("out." + std::to_string(rank));
        sizes.push_back(own.size() / scenario_.input.layout.record_bytes);
        output.insert(output.end(), own.begin(), own.end());
      }
    }
    EXPECT_TRUE(is_written_form(output, records_, scenario_.input.layout, scenario_.unique));
    EXPECT_TRUE(temp_.names().empty());
    EXPECT_EQ(folder_.names(), names_);
    return sizes;
  }

 private:
  /// All files of one rank.
  Bytes read_output(const std::string& first_name) {
    std::vector<std::string> paths;
    for (const std::string& name : volume_names(first_name, scenario_.volumes)) {
      names_.insert(name);
      paths.push_back(folder_ / name);
    }
    const std::size_t record_bytes = scenario_.unique ? 1 : scenario_.input.layout.record_bytes;
    return read_volumes(paths, scenario_.header_bytes, record_bytes);
  }

  Scenario scenario_;
  Bytes records_;
  Bytes one_input_;  // header and records
  Scratch folder_;
  Scratch temp_;
  std::string input_;
  std::string output_;
  std::set<std::string> names_;
  Pipe input_pipe_;
  Pipe output_pipe_;
};

SortOptions options_of(const Scenario& scenario, const Bytes& paths, int rank) {
  const std::string text(reinterpret_cast<const char*>(paths.data()), paths.size());
  const std::size_t first = text.find('\0');
  const std::size_t second = text.find('\0', first + 1);
  SortOptions options =
      sort_of_files({text.substr(0, first)}, text.substr(first + 1, second - first - 1), scenario.input.layout);
  options.output.paths = volume_names(options.output.paths.front(), scenario.volumes);
  options.spill.directories = {text.substr(second + 1)};
  options.spill.compression =
      static_cast<io::SpillCompression>((scenario.input.seed + static_cast<std::uint64_t>(rank)) % 4);
  options.input.header.bytes = scenario.header_bytes;
  options.output.unique = scenario.unique;
  options.input.root_only = scenario.ranks > 1 && scenario.spread >= Spread::kRootFile;
  options.shares.output_by_rates = scenario.plan == Plan::kRates;
  if (options.shares.output_by_rates)
    options.hooks.judge_work = [scenario, rank](const Work&) {
      return work_of_ranks(scenario)[static_cast<std::size_t>(rank)];
    };
  else
    options.shares.output = [planned = plan_shares(scenario)](const RecordsToShare&) { return planned; };
  options.threads = scenario.threads;
  options.memory_bytes = floor_memory(options.layout, options.threads) + scenario.input.seed % 10'000;
  if ((scenario.partly_ranks >> rank) % 2 == 1) options.memory_bytes += scenario.more_bytes;
  const std::uint64_t bytes = std::max(kMaxBytes, scenario.input.records * scenario.input.layout.record_bytes);
  if (has_ample_memory(scenario, rank)) options.memory_bytes += (std::uint64_t{64} << 20) + 3 * bytes;
  options.output.sync = false;
  options.hooks.block_bytes = scenario.block_bytes;
  if (scenario.input.seed % 4 == 0) options.hooks.min_stream_bytes.reset();
  return options;
}

/// The file calls that wait where ranks are processes: there no test can delay their messages.
std::string delays_of(const Scenario& scenario) {
  return scenario.longest_delay_microseconds > 500 ? "read:~9:delay1,write:~9:delay1,open:~3:delay2" : "";
}

/// Whether the ranks claim their input: then the number of runs is not known beforehand.
bool claims_input(const Scenario& scenario) {
  return scenario.plan == Plan::kRates && scenario.spread == Spread::kOneSharedFile &&
         scenario.mode != comm::ExchangeMode::kInline;
}

/// How many runs in memory a rank has: one for each part of its input that holds any records; a stream of unknown size
/// is one part. Requires: the input is not claimed.
std::uint64_t runs_in_memory(const Scenario& scenario, int rank) {
  const auto me = static_cast<std::size_t>(rank);
  const Shares shares = plan_shares(scenario);
  const bool size_is_unknown = scenario.ranks == 1 && scenario.spread == Spread::kRootPipe;
  const std::uint64_t parts = shares.parts.empty() || size_is_unknown ? 1 : shares.parts[me];
  if (!has_one_input(scenario)) return std::min(parts, spread_records(scenario)[me]);
  // Rates are not known yet when the input is divided.
  const auto ranks = static_cast<std::size_t>(scenario.ranks);
  const Shares divided = scenario.plan == Plan::kRates ? equal_shares(scenario.input.records, ranks) : shares;
  return std::min(parts, divided.records[me]);
}

/// Looks at the result of each rank of this process.
using Look = std::function<void(int rank, const RankResult& result)>;

/// Returns how many bytes were sent, on the process of rank 0.
std::uint64_t sort_and_judge(const Scenario& scenario, const Look& look = {}) {
  SCOPED_TRACE(describe(scenario));
  std::optional<Stage> stage;
  if (has_first_rank()) stage.emplace(scenario);
  const Faults faults(delays_of(scenario));
  machinery::InProcessOptions in_process;
  in_process.communicator.mode = scenario.mode;
  in_process.longest_delay_microseconds = scenario.longest_delay_microseconds;
  in_process.rendezvous = scenario.rendezvous;
  in_process.ranks_per_host = scenario.ranks_per_host;
  std::uint64_t sent = 0;
  const auto body = [&](comm::Communicator& ranks) {
    SCOPED_TRACE(describe(scenario) + ", rank " + std::to_string(ranks.rank()));
    const SortOptions options =
        options_of(scenario, ranks.broadcast(ranks.rank() == 0 ? stage->paths() : Bytes{}), ranks.rank());
    Monitor monitor;
    RankResult result;
    sort_records(options, ranks, monitor, result);
    EXPECT_EQ(result.output.records, result.planned_output_records);
    EXPECT_EQ(result.output.records, plan_records(scenario)[static_cast<std::size_t>(ranks.rank())]);
    EXPECT_EQ(result.all.records, scenario.input.records);
    EXPECT_EQ(result.strategy, scenario.plan == Plan::kRates ? "auto" : "equal");
    EXPECT_TRUE(result.in_memory || !has_ample_memory(scenario, ranks.rank()));
    EXPECT_TRUE(!result.in_memory || result.bytes_spilled == 0);
    EXPECT_TRUE(result.in_memory || result.bytes_spilled > 0 || result.input.records == 0);
    if (result.in_memory && !claims_input(scenario)) {
      EXPECT_EQ(result.runs, runs_in_memory(scenario, ranks.rank()));
    }
    if (look) look(ranks.rank(), result);
    std::vector<std::uint64_t> sum{ranks.bytes_sent()};
    ranks.all_reduce_sum(sum);
    if (ranks.rank() == 0) sent = sum[0];
  };
  for (const machinery::RankEnd& end : run_once(scenario.ranks, scenario.input.seed, in_process, body)) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  }
  if (stage) stage->judge();
  return sent;
}

class DistributedSort : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DistributedSort, equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  sort_and_judge(draw_scenario(case_seed(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Sample, DistributedSort, cases(160, 40));

/// Which ranks have too little memory for their records, in a job of so many ranks.
struct TightRanks {
  int ranks = 1;
  std::uint64_t mask = 0;
};

std::vector<TightRanks> all_combinations() {
  std::vector<TightRanks> combinations;
  for (int ranks = 1; ranks <= 4; ++ranks)
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << ranks; ++mask) combinations.push_back({ranks, mask});
  return combinations;
}

void PrintTo(const TightRanks& tight, std::ostream* stream) {
  *stream << "ranks";
  for (int rank = 0; rank < tight.ranks; ++rank) *stream << ((tight.mask >> rank) % 2 == 0 ? "_kept" : "_spilled");
}

std::string name_of(const testing::TestParamInfo<std::tuple<TightRanks, Spread>>& info) {
  const auto& [tight, spread] = info.param;
  return testing::PrintToString(spread) + "_" + testing::PrintToString(tight);
}

/// Every combination of ranks whose runs stay in memory and ranks whose runs spill.
class MixedMemory : public testing::TestWithParam<std::tuple<TightRanks, Spread>> {};

TEST_P(MixedMemory, equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  const auto& [tight, spread] = GetParam();
  if (ranks_for(tight.ranks) != tight.ranks) return;
  const auto ranks = static_cast<std::uint64_t>(tight.ranks);
  const std::uint64_t number = tight.mask * 4 + static_cast<std::uint64_t>(spread);
  Dice dice(case_seed(number));
  Scenario scenario;
  scenario.ranks = tight.ranks;
  scenario.tight_ranks = tight.mask;
  scenario.spread = spread;
  scenario.mode = static_cast<comm::ExchangeMode>(number % 3);
  scenario.plan = dice.one_of({Plan::kEqual, Plan::kRates, Plan::kEmulated});
  if (ranks == 1 && scenario.plan == Plan::kRates) scenario.plan = Plan::kEqual;
  scenario.threads = dice.one_of<std::size_t>({1, 2});
  const RecordLayout layout =
      dice.one_of({RecordLayout{100, 0, 10}, RecordLayout{99, 3, 40}, RecordLayout{500, 90, 10}});
  // With the minimum of memory a rank cannot keep these.
  const std::uint64_t each = floor_memory(layout, scenario.threads) * 3 / 5 / layout.record_bytes;
  scenario.input = {dice.one_of(kDistributions), layout, each * ranks, dice.number()};
  scenario.block_bytes = dice.one_of<std::uint64_t>({0, 0, 5000});
  scenario.destination = dice.one_of({Destination::kOwnFiles, Destination::kOneFile, Destination::kPipe});
  if (scenario.destination == Destination::kOwnFiles) scenario.volumes = dice.one_of<std::size_t>({1, 3});
  const bool parts_are_equal = scenario.plan == Plan::kEqual || spread == Spread::kAlike;
  sort_and_judge(scenario, [&](int rank, const RankResult& result) {
    if (parts_are_equal) {
      EXPECT_EQ(result.in_memory, has_ample_memory(scenario, rank));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(OfRanks, MixedMemory,
                         testing::Combine(testing::ValuesIn(some_of(all_combinations(), 1)),
                                          testing::ValuesIn(kSanitized
                                                                ? std::vector{Spread::kAlike, Spread::kRootPipe}
                                                                : std::vector{Spread::kAlike, Spread::kOneSharedFile,
                                                                              Spread::kRootFile, Spread::kRootPipe})),
                         name_of);

/// Every combination of ranks that keep their runs in memory (k), spill a part (p) and spill all (s), with at least one
/// rank that spills a part. Of four ranks none spills all, for the time it takes.
std::vector<std::string> combinations_with_parts() {
  std::vector<std::string> all;
  std::vector<std::string> longest{""};
  for (int ranks = 1; ranks <= (kSanitized ? 3 : 4); ++ranks) {
    std::vector<std::string> longer;
    for (const std::string& each : longest)
      for (const char state : {'k', 'p', 's'}) longer.push_back(each + state);
    longest = std::move(longer);
    std::ranges::copy_if(longest, std::back_inserter(all), [&](const std::string& each) {
      return each.find('p') != std::string::npos && (ranks < 4 || each.find('s') == std::string::npos);
    });
  }
  return all;
}

class PartlySpilled : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(PartlySpilled, equals_an_independent_stable_sort) {
  SCOPED_TRACE(seed_note());
  const std::string& runs = std::get<0>(GetParam());
  const bool from_root = std::get<1>(GetParam());
  const auto ranks = static_cast<int>(runs.size());
  if (ranks_for(ranks) != ranks) return;
  Dice dice(case_seed(std::hash<std::string>{}(runs) + (from_root ? 1 : 0)));
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.plan = dice.one_of({Plan::kEqual, Plan::kEmulated, ranks == 1 ? Plan::kEqual : Plan::kRates});
  scenario.spread = from_root ? dice.one_of({Spread::kRootFile, Spread::kRootPipe})
                              : dice.one_of({Spread::kAlike, Spread::kAlike, Spread::kOneSharedFile});
  scenario.mode = dice.one_of({comm::ExchangeMode::kThread, comm::ExchangeMode::kThreads, comm::ExchangeMode::kInline});
  const RecordLayout layout = dice.one_of({RecordLayout{1000, 500, 10}, RecordLayout{999, 3, 40}});
  scenario.threads = dice.one_of<std::size_t>({1, 2});
  scenario.more_bytes = std::uint64_t{16} << 20;
  const std::uint64_t each = scenario.more_bytes * 9 / 8 / layout.record_bytes;
  scenario.input = {dice.one_of(kDistributions), layout, each * runs.size(), dice.number()};
  scenario.destination = dice.one_of({Destination::kOwnFiles, Destination::kOneFile, Destination::kPipe});
  if (scenario.destination == Destination::kOwnFiles) scenario.volumes = dice.one_of<std::size_t>({1, 3});
  for (std::size_t rank = 0; rank < runs.size(); ++rank) {
    scenario.tight_ranks |= std::uint64_t{runs[rank] != 'k'} << rank;
    scenario.partly_ranks |= std::uint64_t{runs[rank] == 'p'} << rank;
  }
  sort_and_judge(scenario, [&](int rank, const RankResult& result) {
    // Other parts and claims are not equal. A stream of unknown size, and a rank among others with many runs, spills as
    // a whole.
    const bool is_known = scenario.plan == Plan::kEqual && (ranks > 1 || scenario.spread != Spread::kRootPipe);
    if (!is_known || runs.find('s') != std::string::npos) return;
    EXPECT_EQ(result.in_memory, runs[static_cast<std::size_t>(rank)] == 'k');
    EXPECT_EQ(result.runs_in_memory, 1U);
  });
}

INSTANTIATE_TEST_SUITE_P(OfRanks, PartlySpilled,
                         testing::Combine(testing::ValuesIn(some_of(combinations_with_parts(), 3)), testing::Bool()),
                         [](const testing::TestParamInfo<std::tuple<std::string, bool>>& given) {
                           return std::get<0>(given.param) + (std::get<1>(given.param) ? "_from_root" : "");
                         });

Scenario uniform(std::size_t records, int ranks) {
  Scenario scenario;
  scenario.input = {Distribution::kUniform, {100, 0, 10}, records, test_seed()};
  scenario.ranks = ranks_for(ranks);
  return scenario;
}

TEST(DistributedSortOf, runs_beyond_memory_are_merged_in_a_further_pass) {
  Scenario scenario = uniform(kSanitized ? 40'000 : 120'000, 3);
  scenario.plan = Plan::kUnequal;
  scenario.tight_ranks = kAllRanks;
  sort_and_judge(scenario);
}

TEST(DistributedSortOf, a_million_records_in_large_blocks) {
  Scenario scenario = uniform(kSanitized ? 50'000 : 1'000'000, 4);
  scenario.plan = Plan::kUnequal;
  sort_and_judge(scenario);
}

TEST(DistributedSortOf, records_are_shared_equally_if_only_one_rank_can_be_measured) {
  Scenario scenario = uniform(10'000, 4);
  scenario.plan = Plan::kRates;
  scenario.spread = Spread::kAllOnOne;
  sort_and_judge(scenario);
}

/// Sorts with output shares by the rates that are really measured, and with so many rounds over the links.
void sort_by_rates(const Scenario& scenario, std::optional<int> rounds) {
  SCOPED_TRACE(describe(scenario));
  std::optional<Stage> stage;
  if (has_first_rank()) stage.emplace(scenario);
  const auto body = [&](comm::Communicator& ranks) {
    SortOptions options =
        options_of(scenario, ranks.broadcast(ranks.rank() == 0 ? stage->paths() : Bytes{}), ranks.rank());
    options.shares.output = {};
    options.shares.output_by_rates = true;
    options.hooks.probe_rounds = rounds;
    const bool probes = rounds && scenario.mode != comm::ExchangeMode::kInline && !options.input.root_only &&
                        ranks.ranks_on_host() < ranks.size();
    Monitor monitor;
    RankResult result;
    sort_records(options, ranks, monitor, result);
    EXPECT_EQ(result.work.records, result.input.records);
    EXPECT_GT(result.work.seconds, 0);
    EXPECT_EQ(result.output.records, result.planned_output_records);
    EXPECT_EQ(result.strategy, "auto");
    EXPECT_EQ(!result.measured.rates.empty(), probes);
    EXPECT_TRUE(probes || result.explanation.empty());
    // Nothing can be explained if no rank worked long enough to be measured.
    EXPECT_TRUE(!probes || !is_measured(result.work) || !result.explanation.empty());
    for (const RankRates& rates : result.measured.rates) EXPECT_TRUE(rates.link_in > 0 && rates.link_out > 0);
    std::vector<std::uint64_t> sum{result.planned_output_records};
    ranks.all_reduce_sum(sum);
    EXPECT_EQ(sum[0], scenario.input.records);
  };
  machinery::InProcessOptions in_process;
  in_process.communicator.mode = scenario.mode;
  for (const machinery::RankEnd& end : run_once(scenario.ranks, scenario.input.seed, in_process, body))
    EXPECT_EQ(end.conclusion, "");
  if (stage) stage->judge_contents();
}

TEST(DistributedSortOf, ranks_by_their_measured_rates_keeps_all_records) {
  sort_by_rates(uniform(kSanitized ? 20'000 : 200'000, 3), std::nullopt);
}

TEST(DistributedSortOf, ranks_whose_links_are_measured_keeps_all_records) {
  for (const comm::ExchangeMode mode :
       {comm::ExchangeMode::kInline, comm::ExchangeMode::kThread, comm::ExchangeMode::kThreads})
    for (const Spread spread : {Spread::kAlike, Spread::kOneEmpty, Spread::kOneSharedFile, Spread::kRootFile}) {
      Scenario scenario = uniform(kSanitized ? 5'000 : 20'000, spread == Spread::kAlike ? 4 : 3);
      scenario.mode = mode;
      scenario.spread = spread;
      sort_by_rates(scenario, 2);
    }
}

TEST(DistributedSortOf, data_in_its_place_sends_no_records) {
  Scenario scenario = uniform(40'000, 4);
  scenario.input.distribution = Distribution::kSorted;
  EXPECT_LT(sort_and_judge(scenario), 600'000U);
}

TEST(DistributedSortOf, uniform_data_crosses_the_network_once) {
  const Scenario scenario = uniform(80'000, 4);
  const std::uint64_t bytes = 8'000'000;
  const std::uint64_t sent = sort_and_judge(scenario);
  if (!has_first_rank() || scenario.ranks != 4) return;
  EXPECT_GT(sent, bytes * 70 / 100);
  EXPECT_LT(sent, bytes * 83 / 100);
}

}  // namespace
}  // namespace hetsort::sort::test
