// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/sort/scenario.h"

#include <sstream>

#include "partition/plan.h"
#include "sort/model/measured_shares.h"

namespace hetsort::sort::test {

namespace {

constexpr std::array kSpreads{Spread::kAlike,         Spread::kRandom,   Spread::kOneEmpty, Spread::kAllOnOne,
                              Spread::kOneSharedFile, Spread::kRootFile, Spread::kRootPipe};
constexpr std::array kDestinations{Destination::kOwnFiles, Destination::kOneFile, Destination::kPipe};
constexpr std::array kPlans{Plan::kEqual,    Plan::kUnequal, Plan::kUnequal, Plan::kSomeNothing, Plan::kAllToOne,
                            Plan::kStrategy, Plan::kRates,   Plan::kRates,   Plan::kEmulated,    Plan::kEmulated};

class Draw : public Dice {
 public:
  explicit Draw(std::uint64_t seed) : Dice(seed), seed_(seed) {}

  Scenario scenario() {
    Scenario drawn;
    drawn.ranks = ranks_for(static_cast<int>(1 + number() % 8));
    const auto ranks = static_cast<std::size_t>(drawn.ranks);
    RecordLayout& layout = drawn.input.layout;
    layout.record_bytes = one_of<std::size_t>({1, 4, 16, 99, 100, 100, 100, 257, 1001, 5000});
    const std::size_t most_key = std::min<std::size_t>(layout.record_bytes, kMaxKeyBytes);
    layout.key_bytes = std::min(one_of<std::size_t>({1, 3, 10, 10, 10, 11, 40, most_key}), most_key);
    layout.key_offset = number() % (layout.record_bytes - layout.key_bytes + 1);
    drawn.input.distribution = one_of(kDistributions);
    drawn.input.records = std::min(one_of<std::size_t>({0, 1, ranks - 1, ranks, 1000, 1000, 30'000, 30'000}),
                                   kMaxBytes / layout.record_bytes);
    drawn.input.seed = number();
    drawn.mode = static_cast<comm::ExchangeMode>(seed_ % 3);
    drawn.spread = one_of(kSpreads);
    drawn.plan = one_of(kPlans);
    if (drawn.ranks == 1 && drawn.plan == Plan::kRates) drawn.plan = Plan::kEqual;  // rates need two ranks
    drawn.tight_ranks = one_of<std::uint64_t>({0, 0, kAllRanks, kAllRanks, number(), number()});
    drawn.threads = one_of<std::size_t>({1, 1, 2, 3});
    drawn.block_bytes = one_of<std::uint64_t>({0, 1, 3 * layout.record_bytes, 5000, 100'000});
    // Thousands of tiny blocks would only cost time.
    const std::size_t blocks =
        drawn.input.records * layout.record_bytes / std::max<std::uint64_t>(1, drawn.block_bytes);
    if (blocks > 2000) drawn.block_bytes = 8192;
    drawn.longest_delay_microseconds = one_of<int>({0, 100, 100, 1000});
    drawn.rendezvous = one_of<double>({0, 0.5, 1});
    drawn.destination = one_of(kDestinations);
    drawn.header_bytes = one_of<std::size_t>({0, 0, 0, 1, 128, 5000});
    if (number() % 3 == 0) layout = draw_typed_layout(*this, layout.record_bytes);
    if (drawn.destination == Destination::kOwnFiles) drawn.volumes = one_of<std::size_t>({1, 1, 2, 3, 5});
    drawn.unique = drawn.destination != Destination::kOwnFiles && number() % 3 == 0;
    drawn.ranks_per_host = one_of({1, 2, 8});
    return drawn;
  }

 private:
  std::uint64_t seed_;
};

/// Whole numbers with a given sum.
std::vector<std::uint64_t> split(std::uint64_t sum, std::size_t parts, std::mt19937_64& random) {
  std::vector<std::uint64_t> borders{0, sum};
  for (std::size_t i = 1; i < parts; ++i) borders.push_back(random() % (sum + 1));
  std::sort(borders.begin(), borders.end());
  std::vector<std::uint64_t> result;
  for (std::size_t i = 0; i < parts; ++i) result.push_back(borders[i + 1] - borders[i]);
  return result;
}

Shares shares_of_strategy(const Scenario& scenario, std::span<const char* const> strategies) {
  std::mt19937_64 random(scenario.input.seed);
  std::vector<double> speeds;
  for (int rank = 0; rank < scenario.ranks; ++rank) speeds.push_back(static_cast<double>(1 + random() % 8));
  const auto records = static_cast<std::int64_t>(scenario.input.records);
  Shares shares;
  for (const partition::NodePlan& node :
       partition::make_plan(partition::problem_from_speeds(records, speeds), strategies[random() % strategies.size()])
           .nodes) {
    shares.records.push_back(static_cast<std::uint64_t>(node.records));
    shares.parts.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(node.processes)));
  }
  return shares;
}

}  // namespace

std::string describe(const Scenario& scenario) {
  std::ostringstream text;
  const RecordLayout& layout = scenario.input.layout;
  text << name_of(scenario.input.distribution) << ", " << scenario.input.records << " records of "
       << layout.record_bytes << " bytes behind a header of " << scenario.header_bytes << ", key " << key_text(layout)
       << ", " << scenario.ranks << " ranks, " << scenario.ranks_per_host << " a host, mode " << name_of(scenario.mode)
       << ", spread " << static_cast<int>(scenario.spread) << ", plan " << static_cast<int>(scenario.plan) << ", "
       << "tight memory on ranks";
  for (int rank = 0; rank < scenario.ranks; ++rank)
    if (!has_ample_memory(scenario, rank)) text << " " << rank;
  text << ", " << scenario.threads << " threads, blocks of " << scenario.block_bytes << ", delays up to "
       << scenario.longest_delay_microseconds << " us, destination " << static_cast<int>(scenario.destination) << " of "
       << scenario.volumes << " files" << (scenario.unique ? ", unique" : "");
  return text.str();
}

Scenario draw_scenario(std::uint64_t seed) { return Draw(seed).scenario(); }

std::vector<std::uint64_t> spread_records(const Scenario& scenario) {
  std::mt19937_64 random(scenario.input.seed);
  const auto ranks = static_cast<std::size_t>(scenario.ranks);
  std::vector<std::uint64_t> records = equal_shares(scenario.input.records, ranks).records;
  if (scenario.spread == Spread::kRandom) records = split(scenario.input.records, ranks, random);
  if (scenario.spread == Spread::kOneEmpty && ranks > 1) {
    const std::size_t empty = random() % ranks;
    records[(empty + 1) % ranks] += records[empty];
    records[empty] = 0;
  }
  if (scenario.spread == Spread::kAllOnOne) {
    records.assign(ranks, 0);
    records[random() % ranks] = scenario.input.records;
  }
  return records;
}

std::vector<std::uint64_t> plan_records(const Scenario& scenario) {
  std::mt19937_64 random(scenario.input.seed);
  const auto ranks = static_cast<std::size_t>(scenario.ranks);
  std::vector<std::uint64_t> records = equal_shares(scenario.input.records, ranks).records;
  if (scenario.plan == Plan::kUnequal) records = split(scenario.input.records, ranks, random);
  if (scenario.plan == Plan::kStrategy || scenario.plan == Plan::kEmulated) return plan_shares(scenario).records;
  if (scenario.plan == Plan::kRates) records = shares_by_rates(scenario.input.records, work_of_ranks(scenario)).records;
  if (scenario.plan == Plan::kSomeNothing) {
    for (std::size_t rank = 0; rank + 1 < ranks; rank += 2) {
      records[rank + 1] += records[rank];
      records[rank] = 0;
    }
  }
  if (scenario.plan == Plan::kAllToOne) {
    records.assign(ranks, 0);
    records[random() % ranks] = scenario.input.records;
  }
  return records;
}

std::vector<Work> work_of_ranks(const Scenario& scenario) {
  std::mt19937_64 random(scenario.input.seed);
  std::vector<Work> work(static_cast<std::size_t>(scenario.ranks));
  for (Work& rank : work) rank = {random() % 5 * 1000, static_cast<double>(random() % 40) / 10};
  return work;
}

Shares plan_shares(const Scenario& scenario) {
  static constexpr std::array kStrategies{"lambert", "proportional", "power:1.5", "dp"};
  static constexpr std::array kEmulated{"emulated:1", "emulated:5", "emulated:11", "emulated:40"};
  if (scenario.plan == Plan::kStrategy) return shares_of_strategy(scenario, kStrategies);
  if (scenario.plan == Plan::kEmulated) return shares_of_strategy(scenario, kEmulated);
  return {.records = plan_records(scenario)};
}

}  // namespace hetsort::sort::test
