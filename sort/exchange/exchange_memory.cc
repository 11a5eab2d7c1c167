// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange_memory.h"

#include "sort/runs/run_reader.h"

namespace hetsort::sort {

ExchangeMemory::ExchangeMemory(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context)
    : out_bytes_(exchange_memory_bytes(plan.streams_out(plan.me), 0, plan.block_bytes, plan.credits)),
      in_bytes_(exchange_memory_bytes(0, plan.streams_in(plan.me), plan.block_bytes, plan.credits)),
      threads_(plan.of_rank[plan.me].threads) {
  // Staging and scratch lie behind the records that stay in memory.
  const bool beside_records = runs.in_memory() || !runs.kept.empty();
  const std::size_t staging = beside_records ? 0 : context.plan.staging_bytes;
  const std::size_t min_own = RunReader::memory_needed(runs.spilled.size(), plan.block_bytes);
  const std::size_t needed = out_bytes_ + threads_.size() * (in_bytes_ + min_own + staging);
  std::span<std::byte> memory = beside_records ? context.slot() : context.arena;
  if (runs.in_memory() || needed > memory.size()) {
    own_memory_.emplace(needed);
    // Only what blocks really hold may become memory, if it is more than the plan has, or if blocks hold little:
    // zeroing huge pages would then take longer than the exchange.
    if (!runs.in_memory() || plan.is_sparse) own_memory_->use_small_pages();
    memory = own_memory_->span();
  }
  out_ = memory.first(out_bytes_);
  const std::size_t each = (memory.size() - out_bytes_) / threads_.size() / kPageBytes * kPageBytes;
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const std::span<std::byte> part = memory.subspan(out_bytes_ + thread * each, each);
    const ThreadMemory beside = beside_records ? context.beside_shared(thread) : ThreadMemory{};
    threads_[thread] = {part.first(in_bytes_), part.subspan(in_bytes_, each - in_bytes_ - staging),
                        beside_records ? beside.staging : part.last(staging), beside.scratch};
  }
}

}  // namespace hetsort::sort
