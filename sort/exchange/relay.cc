// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/relay.h"

#include <algorithm>

#include "sort/merge/line_streams.h"
#include "sort/model/exchange_block.h"

namespace hetsort::sort {

MergedBlocks::MergedBlocks(RecordStreams& streams, const RelayWire& wire, OrderVerifier& verifier, Monitor& monitor)
    : block_records_(wire.block_records),
      verifier_(verifier),
      monitor_(monitor),
      record_bytes_(wire.record_bytes),
      blocks_(wire.credits, std::vector<std::byte>(block_records_ * record_bytes_ + kTrailerBytes)) {
  if (verifier.layout().is_lines())
    lines_.emplace(streams, verifier.layout());
  else
    merger_.emplace(streams, verifier.layout());
}

std::span<std::byte> MergedBlocks::next(std::size_t) {
  std::vector<std::byte>& block = blocks_[turn_++ % blocks_.size()];
  const std::size_t count =
      lines_ ? take_lines(std::span(block).first(block_records_)) : merger_->take(block.data(), block_records_);
  verifier_.inspect(block.data(), count);
  monitor_.advance(count * record_bytes_);
  return {block.data(), count * record_bytes_};
}

/// Fills `block`, which may cut lines. Returns the bytes, fewer only at the end.
std::size_t MergedBlocks::take_lines(std::span<std::byte> block) {
  std::size_t filled = 0;
  while (filled < block.size() && !lines_->empty()) {
    const std::span<const std::byte> rest = lines_->line().subspan(taken_of_line_);
    const std::size_t bytes = std::min(rest.size(), block.size() - filled);
    std::ranges::copy(rest.first(bytes), block.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += bytes;
    taken_of_line_ += bytes;
    if (bytes < rest.size()) break;
    taken_of_line_ = 0;
    lines_->pass_line();
  }
  return filled;
}

RelayedShares::RelayedShares(comm::Communicator& ranks, const std::vector<std::uint64_t>& records,
                             const RelayWire& wire) {
  const std::size_t block_bytes = wire.block_records * wire.record_bytes;
  const IncomingStreams::Wire incoming{wire.first_tag,    wire.first_tag + 1, block_bytes,
                                       wire.record_bytes, wire.progress,      wire.credits};
  for (int rank = 1; rank < ranks.size(); ++rank) {
    memory_.emplace_back(IncomingStreams::memory_needed(1, incoming));
    const IncomingStream stream{rank, 0, {stream_size(records[static_cast<std::size_t>(rank)], wire.block_records)}};
    shares_.push_back(
        std::make_unique<IncomingStreams>(ranks, std::vector<IncomingStream>{stream}, memory_.back(), incoming));
  }
}

void RelayedShares::write_to(const io::File& output, UniqueFilter* filter) {
  std::vector<std::byte> copy;  // a copy, because blocks that arrived are read only
  for (const auto& share : shares_) {
    if (filter != nullptr && filter->is_of_lines()) write_lines(*share, output, *filter);
    for (std::span<const std::byte> records = share->next(0); !records.empty(); records = share->next(0)) {
      if (filter != nullptr) {
        copy.assign(records.begin(), records.end());
        records = std::span(copy).first(filter->keep_first(copy));
      }
      output.write(records);
    }
    share->finish();
  }
}

void RelayedShares::write_lines(RecordStreams& share, const io::File& output, UniqueFilter& filter) {
  LineStreams whole(share, filter.order());
  const LineKeys keys(filter.order());
  std::vector<std::byte> kept;
  for (std::span<const std::byte> lines = whole.next(0); !lines.empty(); lines = whole.next(0)) {
    kept.clear();
    const std::byte* const end = lines.data() + lines.size();
    for (const std::byte* at = lines.data(); at != end;) {
      const std::span<const std::byte> line = keys.line_at(at);
      if (filter.keeps(line)) kept.insert(kept.end(), line.begin(), line.end());
      at += line.size();
    }
    output.write(kept);
  }
}

void RelayedShares::wake() {
  for (const auto& share : shares_) share->wake();
}

RelayedShare::RelayedShare(comm::Communicator& ranks, BlockSource& source, std::uint64_t records, const RelayWire& wire)
    : stream_(ranks, source, {{.to = 0, .number = 0, .parts = {stream_size(records, wire.block_records)}}},
              {wire.first_tag, wire.first_tag + 1, wire.credits}),
      progress_(wire.progress) {}

}  // namespace hetsort::sort
