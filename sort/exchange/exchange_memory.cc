// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange_memory.h"

#include "sort/model/exchange_block.h"
#include "sort/runs/run_reader.h"

namespace hetsort::sort {

namespace {

std::size_t in_bytes_of(const ExchangePlan& plan, std::size_t rank) {
  return exchange_memory_bytes(0, plan.streams_in(rank), plan.block_bytes, plan.credits);
}

}  // namespace

ExchangeMemory::ExchangeMemory(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context)
    : plan_(plan),
      ranks_(*context.ranks),
      out_bytes_(exchange_memory_bytes(plan.streams_out(plan.me), 0, plan.block_bytes, plan.credits)),
      in_bytes_(in_bytes_of(plan, plan.me)),
      threads_(plan.of_rank[plan.me].threads) {
  // Staging and scratch lie behind the records that stay in memory.
  const bool beside_records = runs.in_memory() || !runs.kept.empty();
  const std::size_t staging = beside_records ? 0 : context.plan.staging_bytes;
  const std::size_t min_own = RunReader::memory_needed(runs.spilled.size(), plan.block_bytes);
  if (runs.in_memory() && plan.shares_memory && ranks_.ranks_on_host() > 1)
    shared_in_ = io::SharedBuffer::create(threads_.size() * in_bytes_);
  const std::size_t own_in_bytes = shared_in_ ? 0 : in_bytes_;
  const std::size_t needed = out_bytes_ + threads_.size() * (own_in_bytes + min_own + staging);
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
    const std::span<std::byte> in =
        shared_in_ ? shared_in_->span().subspan(thread * in_bytes_, in_bytes_) : part.first(in_bytes_);
    const ThreadMemory beside = beside_records ? context.beside_shared(thread) : ThreadMemory{};
    threads_[thread] = {in, part.subspan(own_in_bytes, each - own_in_bytes - staging),
                        beside_records ? beside.staging : part.last(staging), beside.scratch};
  }
}

void ExchangeMemory::map_neighbours(const std::vector<io::SharedBuffer::Name>& names) {
  if (!shared_in_) return;
  neighbours_.resize(names.size());
  for (std::size_t rank = 0; rank < names.size(); ++rank)
    if (rank != plan_.me && ranks_.host(static_cast<int>(rank)) == ranks_.host())
      neighbours_[rank] = io::SharedBuffer::open(names[rank], plan_.of_rank[rank].threads * in_bytes_of(plan_, rank));
}

std::optional<BlockRing> ExchangeMemory::ring_at(std::size_t rank, std::size_t thread, std::size_t run) const {
  if (neighbours_.empty() || !neighbours_[rank]) return std::nullopt;
  std::size_t place = run;  // that of the stream: rank by rank, run by run
  for (std::size_t before = 0; before < plan_.me; ++before)
    if (before != rank) place += plan_.of_rank[before].runs;
  const std::size_t room = block_room(plan_.block_bytes);
  std::byte* const of_thread = neighbours_[rank]->data() + thread * in_bytes_of(plan_, rank);
  return BlockRing{of_thread + place * room + kTrailerBytes, plan_.streams_in(rank) * room};
}

}  // namespace hetsort::sort
