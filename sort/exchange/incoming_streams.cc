// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/incoming_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/checksum/checksum.h"
#include "io/error.h"
#include "io/stopwatch.h"
#include "sort/model/exchange_block.h"
#include "sort/model/monitor.h"

namespace hetsort::sort {

std::size_t IncomingStreams::memory_needed(const Wire& wire) {
  return wire.places * wire.credits * block_room(wire.block_bytes);
}

IncomingStreams::IncomingStreams(comm::Communicator& ranks, const std::vector<IncomingStream>& streams,
                                 std::span<std::byte> memory, const Wire& wire)
    : ranks_(ranks), wire_(wire), memory_(memory), arrivals_(ranks) {
  for (const IncomingStream& stream : streams) {
    streams_.push_back({stream});
    for (const StreamSize& part : stream.parts) streams_.back().blocks += part.blocks;
    streams_.back().part_end = stream.parts.front().blocks;
    sources_[stream.from];
  }
  for (std::size_t stream = 0; stream < streams_.size(); ++stream)
    for (std::uint64_t block = 0; block < wire_.credits; ++block) post(stream);
}

/// The first blocks of all streams lie side by side: streams that have few blocks leave the pages behind them
/// untouched. A sender that shares the memory computes the same places (ExchangeMemory::ring_at).
std::byte* IncomingStreams::memory_of(const Stream& stream, std::uint64_t block) const {
  return memory_.data() + (block % wire_.credits * wire_.places + stream.info.place) * block_room(wire_.block_bytes);
}

/// Posts the receive of the stream's next block, if it has one.
void IncomingStreams::post(std::size_t number) {
  Stream& stream = streams_[number];
  if (stream.posted == stream.blocks) return;
  const std::uint64_t block = stream.posted++;
  ranks_.receive(stream.info.from, wire_.first_tag + static_cast<int>(stream.info.number),
                 {memory_of(stream, block), wire_.block_bytes + kTrailerBytes},
                 [this, number, block](std::size_t bytes) {
                   const std::lock_guard lock(arrivals_.mutex());
                   std::size_t& arrived = streams_[number].message_bytes[block % wire_.credits];
                   arrived = bytes;
                   if (&arrived == awaited_) arrivals_.notify();
                 });
}

void IncomingStreams::give_back(std::size_t number) {
  Stream& stream = streams_[number];
  {
    const std::lock_guard lock(arrivals_.mutex());
    stream.message_bytes[stream.taken % wire_.credits] = 0;
  }
  ++stream.taken;
  stream.in_use = false;
  if (stream.posted == stream.blocks) return;
  post(number);
  // Each message wakes threads at both ends. The source goes on with the other credits meanwhile.
  ++stream.owed;
  if (stream.owed < credits_of_message(wire_.credits) && stream.posted < stream.blocks) return;
  {
    const std::lock_guard lock(arrivals_.mutex());
    std::vector<std::uint32_t>& owed = sources_[stream.info.from].owed;
    owed.insert(owed.end(), std::exchange(stream.owed, 0), stream.info.number);
  }
  send_owed(stream.info.from);
}

/// Sends what is owed to a rank, unless a message to it is in flight: then it follows that one.
void IncomingStreams::send_owed(int to) {
  bool idle = false;
  {
    const std::lock_guard lock(arrivals_.mutex());
    Source& source = sources_.at(to);
    idle = source.in_flight.empty();
    if (idle) seal_owed(source);
    idle = idle && !source.in_flight.empty();
  }
  if (idle) send_credits(to);
}

/// Whether a buffer is free for a block of the stream that has no receive yet.
bool IncomingStreams::has_room(const Stream& stream) const {
  return stream.posted < stream.blocks && stream.posted - stream.taken < wire_.credits;
}

void IncomingStreams::add_part(std::size_t thread, std::uint64_t range, const std::vector<StreamSize>& sizes) {
  std::set<int> senders;  // ranks that have something for the range
  for (std::size_t number = 0; number < streams_.size(); ++number)
    if (sizes[number].blocks > 0) senders.insert(streams_[number].info.from);
  {
    const std::lock_guard lock(arrivals_.mutex());
    for (const int from : senders) {
      Source& source = sources_.at(from);
      source.owed.push_back(kBeginsRange + static_cast<std::uint32_t>(thread));
      source.owed.push_back(static_cast<std::uint32_t>(range));
    }
  }
  for (std::size_t number = 0; number < streams_.size(); ++number) {
    Stream& stream = streams_[number];
    stream.info.parts.push_back(sizes[number]);
    stream.blocks += sizes[number].blocks;
    while (has_room(stream)) {
      post(number);
      const std::lock_guard lock(arrivals_.mutex());
      sources_[stream.info.from].owed.push_back(stream.info.number);
    }
  }
  for (const int from : senders) send_owed(from);
}

double IncomingStreams::fraction_of_part() const {
  std::uint64_t taken = 0;
  std::uint64_t all = 0;
  for (const Stream& stream : streams_) {
    taken += stream.records;
    all += stream.info.parts[stream.part].records;
  }
  return all == 0 ? 1 : static_cast<double>(taken) / static_cast<double>(all);
}

/// Makes the owed credits the next message, with a checksum behind them. Requires: the mutex is held, no message is in
/// flight.
void IncomingStreams::seal_owed(Source& source) {
  source.in_flight.swap(source.owed);
  if (!source.in_flight.empty()) source.in_flight.push_back(io::crc32c(std::as_bytes(std::span(source.in_flight))));
}

/// Sends the credits in `in_flight`, then those that have become owed meanwhile.
void IncomingStreams::send_credits(int to) {
  const std::vector<std::uint32_t>& credits = sources_.at(to).in_flight;
  ranks_.send(to, wire_.credit_tag, std::as_bytes(std::span(credits)), [this, to] {
    bool more = false;
    {
      const std::lock_guard lock(arrivals_.mutex());
      Source& source = sources_.at(to);
      source.in_flight.clear();
      seal_owed(source);
      more = !source.in_flight.empty();
      if (is_ending_ && !more) arrivals_.notify();
    }
    if (more) send_credits(to);
  });
}

/// Waits for the stream's next block.
void IncomingStreams::await(const Stream& stream) {
  const std::size_t& bytes = stream.message_bytes[stream.taken % wire_.credits];
  for (bool has_come = false; !has_come;) {
    {
      const Monitor::Wait wait("wait for blocks", stream.info.from);
      const io::Stopwatch watch;
      has_come = arrivals_.wait_until(
          [&] {
            awaited_ = &bytes;
            return bytes != 0;
          },
          wire_.progress, wire_.long_wait);
      const double waited = watch.seconds();
      waited_seconds_ += waited;
      waited_for_[stream.info.from] += waited;
    }
    if (!has_come) wire_.waits();
  }
}

std::span<const std::byte> IncomingStreams::next(std::size_t number) {
  Stream& stream = streams_[number];
  if (stream.in_use) give_back(number);
  if (wire_.has_room && stream.posted == stream.blocks) wire_.has_room();
  const IncomingStream& info = stream.info;
  if (stream.taken < stream.part_end) {
    await(stream);
    const std::size_t bytes = stream.message_bytes[stream.taken % wire_.credits];
    const std::span<const std::byte> records =
        open_block({memory_of(stream, stream.taken), wire_.block_bytes + 2 * kTrailerBytes}, bytes,
                   {.source = static_cast<std::uint32_t>(info.from), .stream = info.number, .number = stream.taken},
                   ranks_.host(info.from));
    if (is_trailer_alone(bytes)) ranks_.count_shared(0, records.size());
    stream.in_use = true;
    stream.records += records.size() / wire_.record_bytes;
    return records;
  }
  const std::uint64_t announced = info.parts[stream.part].records;
  if (stream.records != announced)
    throw io::Error("receive",
                    fmt::format("stream {} from rank {} ({})", info.number, info.from, ranks_.host(info.from)),
                    fmt::format("{} records came, {} were announced", stream.records, announced));
  return {};
}

std::pair<int, double> IncomingStreams::take_longest_wait() {
  std::pair<int, double> longest{0, 0};
  for (const auto& [from, seconds] : waited_for_)
    if (seconds > longest.second) longest = {from, seconds};
  waited_for_.clear();
  return longest;
}

void IncomingStreams::next_part() {
  for (Stream& stream : streams_) {
    stream.part_end += stream.info.parts[++stream.part].blocks;
    stream.records = 0;
  }
}

void IncomingStreams::finish() {
  if (wire_.has_room) {
    {
      const std::lock_guard lock(arrivals_.mutex());
      for (auto& [from, source] : sources_) source.owed.push_back(kNoMoreRanges);
    }
    for (const auto& [from, source] : sources_) send_owed(from);
  }
  const Monitor::Wait wait("wait for senders", Monitor::Wait::kSomeRank);
  arrivals_.wait_until(
      [this] {
        is_ending_ = true;
        return std::all_of(sources_.begin(), sources_.end(),
                           [](const auto& source) { return source.second.in_flight.empty(); });
      },
      wire_.progress);
}

}  // namespace hetsort::sort
