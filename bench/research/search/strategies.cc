// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/search/strategies.h"

#include <array>

#include "partition/strategy.h"

namespace hetsort::research {

extern const partition::Strategy gbs_strategy;
extern const partition::Strategy gs_strategy;
extern const partition::Strategy ga_strategy;
extern const partition::Strategy sa_strategy;
extern const partition::Strategy spectrum_strategy;

void add_search_strategies() {
  partition::add_strategies(std::array{&gbs_strategy, &gs_strategy, &ga_strategy, &sa_strategy, &spectrum_strategy});
}

}  // namespace hetsort::research
