// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/scatter_input.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "sort/exchange/outgoing_streams.h"
#include "sort/failure/report_failure.h"
#include "sort/model/exchange_block.h"
#include "sort/model/memory_plan.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

namespace {

/// Records in a block. All ranks must compute the same number.
std::uint64_t block_records(std::size_t record_bytes) {
  return std::max<std::uint64_t>(1, kMaxBlockBytes / record_bytes);
}

/// Blocks of consecutive records of the input.
class InputBlocks : public BlockSource {
 public:
  InputBlocks(const Input& input, std::uint64_t first_byte, std::uint64_t bytes, Monitor& monitor)
      : input_(input), next_byte_(first_byte), end_byte_(first_byte + bytes), monitor_(monitor) {}

  std::size_t depth() const override { return kInitialCredits; }
  std::span<std::byte> next(std::size_t) override {
    std::vector<std::byte>& block = blocks_[turn_++ % kInitialCredits];
    const std::uint64_t most = block_records(input_.record_bytes()) * input_.record_bytes();
    const std::size_t bytes = std::min(most, end_byte_ - next_byte_);
    block.resize(bytes + kTrailerBytes);
    std::uint64_t unused = 0;
    std::size_t filled = 0;
    for (const Segment& segment : input_.place(next_byte_, bytes, unused)) {
      const std::span<std::byte> into = std::span(block).subspan(filled, segment.bytes);
      const std::size_t file_bytes = into.size() - segment.added_bytes;
      const std::size_t got = segment.input->file.read_at(into.first(file_bytes), segment.file_offset);
      if (got < file_bytes) refuse_truncated(*segment.input, segment.file_offset + got);
      segment.input->hide_newlines(segment.file_offset, into.first(file_bytes));
      if (segment.added_bytes > 0) into.back() = *input_.terminator();
      filled += into.size();
    }
    next_byte_ += bytes;
    monitor_.advance(bytes);
    return {block.data(), bytes};
  }

 private:
  const Input& input_;
  std::uint64_t next_byte_;
  std::uint64_t end_byte_;
  Monitor& monitor_;
  std::array<std::vector<std::byte>, kInitialCredits> blocks_;
  std::size_t turn_ = 0;
};

/// The number of tags of a scatter: one for blocks, one for credits.
constexpr int kScatterTags = 2;

/// On rank 0: sends one rank its share, which begins at record `first`. Throws: io::Error; PeerFailed.
void send_share(const Input& input, int rank, const Shares& shares, int first_tag, const RankContext& context) {
  comm::Communicator& ranks = *context.ranks;
  const std::size_t record_bytes = input.record_bytes();
  const std::uint64_t records = shares.records[static_cast<std::size_t>(rank)];
  const std::uint64_t first = shares.first_record(static_cast<std::size_t>(rank));
  InputBlocks blocks(input, first * record_bytes, records * record_bytes, *context.monitor);
  OutgoingStreams stream(ranks, blocks,
                         {{.to = rank, .number = 0, .parts = {stream_size(records, block_records(record_bytes))}}},
                         {first_tag, first_tag + 1});
  try {
    const WakeOnFailure waking(ranks, stream);
    stream.run(progress_of(ranks));
  } catch (const std::exception& error) {
    report_failure(ranks, error);
    ranks.drain();
    throw;
  }
}

/// The order in which rank 0 serves the ranks.
std::vector<int> serving_order(const Shares& shares) {
  if (!shares.order.empty()) return shares.order;
  std::vector<int> order(shares.records.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

std::unique_ptr<ScatteredInput> scatter_input(Input& input, const Shares& shares, const RankContext& context) {
  comm::Communicator& ranks = *context.ranks;
  const std::size_t record_bytes = input.record_bytes();
  const int first_tag = ranks.take_tags(kScatterTags);
  if (ranks.rank() != 0) {
    auto scattered = std::make_unique<ScatteredInput>(ranks, shares.records[context.rank()], record_bytes, first_tag);
    ranks.barrier();
    input.set_source([source = scattered.get()](std::span<std::byte> into) { return source->read(into); });
    return scattered;
  }
  // Rank 0 sends nothing before all ranks have posted their receives: otherwise it would wait forever for a rank that
  // fails before.
  ranks.barrier();
  context.begin_phase("scatter");
  input.with_all([&](const Input& all) {
    for (const int rank : serving_order(shares))
      if (rank != 0) send_share(all, rank, shares, first_tag, context);
  });
  return nullptr;
}

ScatteredInput::ScatteredInput(comm::Communicator& ranks, std::uint64_t records, std::size_t record_bytes,
                               int first_tag)
    : ranks_(ranks) {
  const std::size_t block_bytes = block_records(record_bytes) * record_bytes;
  const IncomingStreams::Wire wire{first_tag, first_tag + 1, block_bytes, record_bytes, progress_of(ranks)};
  memory_.resize(IncomingStreams::memory_needed(wire));
  stream_ = std::make_unique<IncomingStreams>(
      ranks,
      std::vector<IncomingStream>{
          {.from = 0, .number = 0, .parts = {stream_size(records, block_records(record_bytes))}}},
      memory_, wire);
  ranks.on_failure([this] { stream_->wake(); });
}

ScatteredInput::~ScatteredInput() {
  ranks_.on_failure({});
  drain_after_failure(ranks_);
}

std::size_t ScatteredInput::read(std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (left_.empty()) left_ = stream_->next(0);
    if (left_.empty()) break;
    const std::size_t bytes = std::min(left_.size(), into.size() - filled);
    std::memcpy(into.data() + filled, left_.data(), bytes);
    left_ = left_.subspan(bytes);
    filled += bytes;
  }
  return filled;
}

io::File spool(Input& stream, const std::string& directory) {
  io::File file = io::File::create_nameless(directory);
  std::vector<std::byte> piece(block_records(stream.record_bytes()) * stream.record_bytes());
  for (std::uint64_t offset = 0;;) {
    const std::size_t bytes = stream.read_stream(piece);
    if (bytes == 0) return file;
    file.write_at(std::span(piece).first(bytes), offset);
    offset += bytes;
  }
}

}  // namespace hetsort::sort
