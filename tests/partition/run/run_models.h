// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Models of runs for the tests, and every way to divide a few records.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "partition/run/run_model.h"

namespace hetsort::partition::test {

/// Ranks on hosts of their own that form `records_per_second` and have no other limit.
RunModel processors_only(const std::vector<double>& records_per_second);

struct RandomModel {
  bool cached = false;  ///< parts of the input are in the page cache
  int max_hosts = 4;
  int max_ranks_of_host = 1;
  bool shared = false;  ///< some models have a link and a disk that all hosts share
};

/// Costs and rates are small whole numbers, so that ties are frequent. Every resource is missing in some models.
RunModel random_model(std::mt19937_64& random, const RandomModel& form);

/// `records` among `ranks`; often some get none.
std::vector<std::int64_t> random_division(std::mt19937_64& random, std::size_t ranks, std::int64_t records);

bool within_caps(const RunModel& model, const std::vector<std::int64_t>& shares);

/// Calls `use` with every way to divide `records` among `ranks` in multiples of `unit`.
void for_each_division(std::size_t ranks, std::int64_t records, std::int64_t unit,
                       const std::function<void(const std::vector<std::int64_t>&)>& use);

}  // namespace hetsort::partition::test
