// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/relay.h"

#include <algorithm>

#include "order/lines/csv_rows.h"
#include "sort/merge/line_streams.h"
#include "sort/model/exchange_block.h"

namespace hetsort::sort {

namespace {

/// Writes records to the stream that the output is.
void write_records(Output& output, std::span<const std::byte> records) {
  const io::File& file = *output.first_volume().files().buffered;
  if (!output.hides_newlines()) return file.write(records);
  std::vector<std::byte> shown(records.begin(), records.end());
  order::show_newlines(shown);
  file.write(shown);
}

}  // namespace

MergedBlocks::MergedBlocks(RecordStreams& streams, const RelayWire& wire, OrderVerifier& verifier, Monitor& monitor)
    : merger_(make_merger(streams, verifier.layout())),
      block_records_(wire.block_records),
      verifier_(verifier),
      monitor_(monitor),
      record_bytes_(wire.record_bytes),
      blocks_(wire.credits, std::vector<std::byte>(block_records_ * record_bytes_ + kTrailerBytes)) {}

std::span<std::byte> MergedBlocks::next(std::size_t) {
  std::vector<std::byte>& block = blocks_[turn_++ % blocks_.size()];
  const std::size_t count = merger_->take(block.data(), block_records_);
  verifier_.inspect(block.data(), count);
  monitor_.advance(count * record_bytes_);
  return {block.data(), count * record_bytes_};
}

RelayedShares::RelayedShares(comm::Communicator& ranks, const std::vector<std::uint64_t>& records,
                             const RelayWire& wire) {
  const std::size_t block_bytes = wire.block_records * wire.record_bytes;
  const IncomingStreams::Wire incoming{wire.first_tag,    wire.first_tag + 1, block_bytes,
                                       wire.record_bytes, wire.progress,      wire.credits};
  for (int rank = 1; rank < ranks.size(); ++rank) {
    memory_.emplace_back(IncomingStreams::memory_needed(incoming));
    const IncomingStream stream{rank, 0, {stream_size(records[static_cast<std::size_t>(rank)], wire.block_records)}};
    shares_.push_back(
        std::make_unique<IncomingStreams>(ranks, std::vector<IncomingStream>{stream}, memory_.back(), incoming));
  }
}

void RelayedShares::write_to(Output& output) {
  for (const auto& share : shares_) {
    if (output.filter() != nullptr)
      with_records(output.filter()->layout(), [&](const auto& records) { write_kept(records, *share, output); });
    else
      for (std::span<const std::byte> records = share->next(0); !records.empty(); records = share->next(0))
        write_records(output, records);
    share->finish();
  }
}

void RelayedShares::write_kept(const FixedRecords&, RecordStreams& share, Output& output) {
  std::vector<std::byte> copy;  // a copy, because blocks that arrived are read only
  for (std::span<const std::byte> records = share.next(0); !records.empty(); records = share.next(0)) {
    copy.assign(records.begin(), records.end());
    write_records(output, std::span(copy).first(output.filter()->keep_first(copy)));
  }
}

void RelayedShares::write_kept(const LineKeys& keys, RecordStreams& share, Output& output) {
  LineStreams whole(share, keys);
  std::vector<std::byte> kept;
  for (std::span<const std::byte> lines = whole.next(0); !lines.empty(); lines = whole.next(0)) {
    kept.clear();
    const std::byte* const end = lines.data() + lines.size();
    for (const std::byte* at = lines.data(); at != end;) {
      const std::span<const std::byte> line = keys.line_at(at);
      if (output.filter()->keeps(line)) kept.insert(kept.end(), line.begin(), line.end());
      at += line.size();
    }
    write_records(output, kept);
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
