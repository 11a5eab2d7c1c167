// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange_memory.h"

#include "sort/runs/run_reader.h"

namespace hetsort::sort {

ExchangeMemory::ExchangeMemory(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context)
    : out_bytes_(exchange_memory_bytes(plan.streams_out(plan.me), 0, plan.block_bytes)),
      in_bytes_(exchange_memory_bytes(0, plan.streams_in(plan.me), plan.block_bytes)),
      threads_(plan.of_rank[plan.me].threads) {
  if (runs.in_memory() || !runs.kept.empty())
    allocate_beside_records(runs, plan, context);
  else
    cut_arena(runs, plan, context);
}

void ExchangeMemory::allocate_beside_records(const FormedRuns& runs, const ExchangePlan& plan,
                                             const RankContext& context) {
  const std::size_t min_own = RunReader::memory_needed(runs.spilled.size(), plan.block_bytes);
  const std::span<std::byte> slot = runs.spilled.empty() ? std::span<std::byte>{} : context.slot();
  const std::size_t of_slot = slot.size() / threads_.size() / kPageBytes * kPageBytes;
  const std::size_t beyond_slot = of_slot < min_own ? min_own : 0;
  own_memory_.emplace(out_bytes_ + threads_.size() * (in_bytes_ + beyond_slot));
  std::span<std::byte> memory = own_memory_->span();
  const auto take = [&memory](std::size_t bytes) {
    const std::span<std::byte> taken = memory.first(bytes);
    memory = memory.subspan(bytes);
    return taken;
  };
  out_ = take(out_bytes_);
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const ThreadMemory beside = context.beside_shared(thread);
    const std::span<std::byte> in = take(in_bytes_);
    const std::span<std::byte> own = beyond_slot > 0 ? take(beyond_slot) : slot.subspan(thread * of_slot, of_slot);
    threads_[thread] = {in, own, beside.staging, beside.scratch};
  }
}

void ExchangeMemory::cut_arena(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context) {
  const std::size_t staging = context.plan.staging_bytes;
  const std::size_t min_own = RunReader::memory_needed(runs.spilled.size(), plan.block_bytes);
  const std::size_t needed = out_bytes_ + threads_.size() * (in_bytes_ + min_own + staging);
  std::span<std::byte> arena = context.arena;
  if (needed > arena.size()) {
    own_memory_.emplace(needed);
    arena = own_memory_->span();
  }
  out_ = arena.first(out_bytes_);
  const std::size_t each = (arena.size() - out_bytes_) / threads_.size() / kPageBytes * kPageBytes;
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const std::span<std::byte> part = arena.subspan(out_bytes_ + thread * each, each);
    threads_[thread] = {
        part.first(in_bytes_), part.subspan(in_bytes_, each - in_bytes_ - staging), part.last(staging), {}};
  }
}

}  // namespace hetsort::sort
