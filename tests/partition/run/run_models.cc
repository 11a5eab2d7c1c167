// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/partition/run/run_models.h"

#include <algorithm>
#include <string>

#include "partition/cost.h"

namespace hetsort::partition::test {
namespace {

std::int64_t integer(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// One of a few numbers from 1/4 to 4.
double some(std::mt19937_64& random) { return static_cast<double>(integer(random, 1, 16)) / 4; }

CostPtr some_sort_cost(std::mt19937_64& random) {
  switch (integer(random, 0, 2)) {
    case 0:
      return linear_cost(some(random));
    case 1:
      return nlogn_cost({.coefficient = some(random), .per_record = 0.5});
    default:
      return affine_cost({some(random), some(random)});
  }
}

}  // namespace

RunModel processors_only(const std::vector<double>& records_per_second) {
  RunModel model;
  for (const double rate : records_per_second) {
    RankResources rank;
    rank.name = std::to_string(model.ranks.size());
    rank.host = model.ranks.size();
    rank.sort = linear_cost(1 / rate);
    rank.merge_seconds = 1 / rate;
    model.ranks.push_back(std::move(rank));
  }
  return model;
}

RunModel random_model(std::mt19937_64& random, const RandomModel& form) {
  const auto chance = [&] { return integer(random, 0, 2) > 0; };
  RunModel model;
  model.record_bytes = integer(random, 1, 3);
  const bool links = chance();
  const bool disks = chance();
  const bool memory = chance();
  const bool messages = chance();
  const bool caps = integer(random, 0, 4) == 0;
  const auto rate = [&](bool given) { return given ? std::optional(some(random)) : std::nullopt; };
  for (std::int64_t host = integer(random, 1, form.max_hosts); host > 0; --host) {
    const DiskAndLinkRates rates{rate(links), rate(links), rate(disks), rate(disks)};
    for (std::int64_t count = integer(random, 1, form.max_ranks_of_host); count > 0; --count) {
      RankResources rank;
      rank.name = std::to_string(host);
      rank.host = static_cast<std::size_t>(host);
      rank.sort = some_sort_cost(random);
      rank.merge_seconds = integer(random, 0, 3) == 0 ? 0 : some(random);
      if (messages) rank.message = {some(random) / 4, some(random) / 4};
      rank.rates = rates;
      if (form.cached) rank.input_cached = static_cast<double>(integer(random, 0, 4)) / 4;
      if (memory) rank.memory_records = integer(random, 0, 6);
      if (caps) rank.max_records = integer(random, 2, 12);
      model.ranks.push_back(std::move(rank));
    }
  }
  if (form.shared && chance()) model.shared = {rate(chance()), rate(chance()), rate(chance())};
  return model;
}

std::vector<std::int64_t> random_division(std::mt19937_64& random, std::size_t ranks, std::int64_t records) {
  std::vector<std::int64_t> shares(ranks, 0);
  for (std::size_t i = 0; i + 1 < ranks; ++i) {
    shares[i] = integer(random, 0, 3) == 0 ? 0 : integer(random, 0, records);
    records -= shares[i];
  }
  shares.back() = records;
  std::shuffle(shares.begin(), shares.end(), random);
  return shares;
}

bool within_caps(const RunModel& model, const std::vector<std::int64_t>& shares) {
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (shares[i] > model.ranks[i].max_records.value_or(shares[i])) return false;
  return true;
}

void for_each_division(std::size_t ranks, std::int64_t records, std::int64_t unit,
                       const std::function<void(const std::vector<std::int64_t>&)>& use) {
  std::vector<std::int64_t> shares(ranks, 0);
  const std::function<void(std::size_t, std::int64_t)> fill = [&](std::size_t rank, std::int64_t left) {
    if (rank + 1 == ranks) {
      shares[rank] = left;
      use(shares);
      return;
    }
    for (std::int64_t share = 0; share <= left; share += unit) {
      shares[rank] = share;
      fill(rank + 1, left - share);
    }
  };
  fill(0, records);
}

}  // namespace hetsort::partition::test
