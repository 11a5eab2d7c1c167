// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/critical.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "partition/error.h"

namespace hetsort::partition {

std::vector<std::size_t> critical_nodes(std::span<const std::int64_t> capacities_records, std::int64_t records) {
  std::vector<std::size_t> places(capacities_records.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return capacities_records[a] > capacities_records[b]; });
  std::int64_t left = records;
  std::size_t count = 0;
  for (; count < places.size() && left > 0; ++count) left -= std::min(left, capacities_records[places[count]]);
  if (left > 0)
    throw PlanError(fmt::format("the memory of all {} nodes holds {} records, {} fewer than the {} to be kept there",
                                places.size(), records - left, left, records));
  places.resize(count);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace hetsort::partition
