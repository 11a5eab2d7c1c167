// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints, as lines of JSON, what sorts of many ranks need for messages and memory, computed by the functions with which
// a sort plans: records of 100 bytes with keys of 10, ranks of 16 threads on hosts of their own, each with 16 GiB in 8
// runs that spilled.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sort/model/memory_plan.h"
#include "sort/plan/exchange_limit.h"
#include "sort/select/selection_size.h"

namespace {

using hetsort::sort::division_sizes;
using hetsort::sort::DivisionSizes;
using hetsort::sort::exact_round;
using hetsort::sort::exchange_use_bytes;
using hetsort::sort::ExchangeFit;
using hetsort::sort::ExchangeShape;
using hetsort::sort::ExchangingRank;
using hetsort::sort::fit_exchange;
using hetsort::sort::kMinBlockBytes;
using hetsort::sort::SelectionSizes;

constexpr std::uint64_t kThreads = 16;
constexpr std::uint64_t kRuns = 8;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::size_t kKeyBytes = 10;

/// Messages of the selection of splitters.
std::string selection_of(std::uint64_t ranks) {
  const SelectionSizes exact =
      exact_round({.ranks = ranks, .searches = ranks, .splitters = ranks, .key_bytes = kKeyBytes});
  const DivisionSizes division =
      division_sizes({.ranks = ranks, .searches = 1, .splitters = kThreads, .key_bytes = kKeyBytes});
  return fmt::format(R"("message_bytes":{},"messages":{},"division_bytes":{},"division_messages":{})",
                     exact.message_bytes, exact.messages,
                     (division.summary_bytes + division.border_bytes) * (ranks - 1), 2 * (ranks - 1));
}

/// The exchange with -S `memory`.
std::string exchange_of(std::uint64_t ranks, std::uint64_t memory) {
  const ExchangeShape shape{{.record_bytes = 100, .key_offset = 0, .key_bytes = kKeyBytes}, kMinBlockBytes, false};
  std::vector<ExchangingRank> of_ranks(ranks, {.memory_bytes = memory,
                                               .threads = kThreads,
                                               .runs = kRuns,
                                               .min_runs = 1,
                                               .input_bytes = 16 * kGiB,
                                               .output_bytes = 16 * kGiB,
                                               .all_spill = true,
                                               .ranks_on_host = 1});
  const std::optional<ExchangeFit> fit = fit_exchange(shape, of_ranks);
  if (!fit) return R"("threads":0,"block_bytes":0,"exchange_bytes":0)";
  for (ExchangingRank& rank : of_ranks) rank.threads = fit->threads;
  return fmt::format(R"("threads":{},"block_bytes":{},"exchange_bytes":{})", fit->threads, fit->block_bytes,
                     exchange_use_bytes({shape.layout, fit->block_bytes, false}, of_ranks, 0));
}

}  // namespace

int main() {
  constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 6> kJobs{
      {{8, kGiB}, {32, kGiB}, {128, kGiB}, {1'000, kGiB}, {10'000, 2 * kGiB}, {100'000, 16 * kGiB}}};
  for (const auto& [ranks, memory] : kJobs)
    fmt::print("{{\"ranks\":{},\"memory_bytes\":{},{},{}}}\n", ranks, memory, selection_of(ranks),
               exchange_of(ranks, memory));
}
