// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/outgoing_streams.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/checksum/checksum.h"
#include "io/error.h"
#include "sort/model/exchange_block.h"
#include "sort/model/monitor.h"

namespace hetsort::sort {

OutgoingStreams::OutgoingStreams(comm::Communicator& ranks, BlockSource& source,
                                 const std::vector<OutgoingStream>& streams, const Wire& wire)
    : ranks_(ranks),
      source_(source),
      wire_(wire),
      destinations_(static_cast<std::size_t>(ranks.size())),
      changes_(ranks) {
  std::uint64_t blocks = 0;
  for (const OutgoingStream& stream : streams) {
    Destination& to = destinations_[static_cast<std::size_t>(stream.to)];
    if (to.streams.size() <= stream.number) to.streams.resize(stream.number + 1, kNoStream);
    to.streams[stream.number] = streams_.size();
    const std::uint64_t all = stream.blocks();
    const std::uint64_t credits = std::min(wire_.credits, all);
    to.expected_credits += all - credits;
    // On one host, blocks do not wait in a socket.
    const bool near = ranks_.host(stream.to) == ranks_.host(ranks_.rank());
    streams_.push_back({.to = stream.to,
                        .number = stream.number,
                        .blocks = all,
                        .left = all,
                        .credits = credits,
                        .most_in_flight = near ? wire_.credits : most_in_flight(wire_.credits)});
    blocks += all;
  }
  unfinished_ = blocks;
  queue_all();
  const std::size_t ranges = wire_.dealt ? wire_.dealt->sizes.size() : 0;
  for (Destination& to : destinations_) {
    if (wire_.dealt && wire_.dealt->runs > 0) to.open_threads = to.streams.size() / wire_.dealt->runs;
    open_threads_ += to.open_threads;
    // A message has room for all credits of all streams, because all may be in flight, for all ranges and the ends of
    // all threads, and for the checksum.
    if (to.expected_credits > 0 || to.open_threads > 0)
      to.received.resize(wire_.credits * to.streams.size() + 2 * ranges + to.open_threads + 1);
  }
  for (std::size_t rank = 0; rank < destinations_.size(); ++rank)
    if (destinations_[rank].expected_credits > 0 || destinations_[rank].open_threads > 0)
      receive_credits(static_cast<int>(rank));
}

/// Queues one stream of each destination in turn, beginning with the next rank.
void OutgoingStreams::queue_all() {
  const auto size = static_cast<std::size_t>(ranks_.size());
  const std::lock_guard lock(changes_.mutex());
  for (std::size_t number = 0; in_order_.size() < streams_.size(); ++number) {
    for (std::size_t step = 1; step < size; ++step) {
      const Destination& to = destinations_[(static_cast<std::size_t>(ranks_.rank()) + step) % size];
      if (number >= to.streams.size() || to.streams[number] == kNoStream) continue;
      Stream& stream = streams_[to.streams[number]];
      stream.order = in_order_.size();
      in_order_.push_back(to.streams[number]);
      queue_if_ready(stream);
    }
  }
}

void OutgoingStreams::queue_if_ready(const Stream& stream) {
  if (stream.left == 0 || stream.credits == 0 || stream.in_flight[stream.next_block() % source_.depth()]) return;
  if (stream.blocks_in_flight() >= stream.most_in_flight) return;
  ready_.emplace(stream.fraction_of(stream.next_block()), stream.order);
}

/// Changes a stream, and its places in both queues. Requires: the mutex is held.
template <typename Change>
void OutgoingStreams::change(Stream& stream, const Change& apply) {
  ready_.erase({stream.fraction_of(stream.next_block()), stream.order});
  under_way_.erase({stream.fraction_of(stream.received), stream.order});
  apply();
  queue_if_ready(stream);
  if (stream.is_under_way()) under_way_.emplace(stream.fraction_of(stream.received), stream.order);
}

/// Whether the first ready stream may send: not if it is further ahead of another stream under way than a stream's
/// credits.
/// Requires: the mutex is held.
bool OutgoingStreams::can_send() const {
  if (ready_.empty()) return false;
  const auto& [fraction, order] = *ready_.begin();
  auto slowest = under_way_.begin();
  if (slowest != under_way_.end() && slowest->second == order) ++slowest;
  return slowest == under_way_.end() ||
         fraction <= slowest->first + streams_[in_order_[order]].fraction_of(wire_.credits);
}

bool OutgoingStreams::send_one() {
  if (const int from = corrupt_from_; from >= 0)
    throw io::Error("receive", fmt::format("credits from rank {} ({})", from, ranks_.host(from)),
                    "corrupt message: its checksum is wrong: network or memory changed it");
  const std::unique_lock sending(sending_, std::try_to_lock);
  if (!sending) return false;
  std::size_t at = 0;
  std::uint64_t block = 0;
  {
    const std::lock_guard lock(changes_.mutex());
    if (!can_send()) return false;
    at = in_order_[ready_.begin()->second];
    Stream& stream = streams_[at];
    change(stream, [&] {
      block = stream.next_block();
      stream.in_flight[block % source_.depth()] = true;
      --stream.credits;
      --stream.left;
    });
  }
  add_portions();
  const Stream& stream = streams_[at];
  const std::span<std::byte> records = source_.next(at);
  seal_block(records, {.source = static_cast<std::uint32_t>(ranks_.rank()), .stream = stream.number, .number = block});
  std::span<const std::byte> message{records.data(), records.size() + kTrailerBytes};
  if (source_.is_at_receiver(at)) {
    message = message.last(kTrailerBytes);
    ranks_.count_shared(records.size(), 0);
  }
  ranks_.send(stream.to, wire_.first_tag + static_cast<int>(stream.number), message,
              [this, at, block] { sent(at, block); });
  return true;
}

void OutgoingStreams::sent(std::size_t number, std::uint64_t block) {
  const std::lock_guard lock(changes_.mutex());
  Stream& stream = streams_[number];
  change(stream, [&] {
    stream.in_flight[block % source_.depth()] = false;
    ++stream.received;
  });
  unfinished_.fetch_sub(1, std::memory_order_release);
  if (can_send() || done()) changes_.notify();
}

/// Tells the source of the portions that its streams have got. Requires: no other thread is in a call of the source.
void OutgoingStreams::add_portions() {
  if (!wire_.dealt) return;
  std::vector<std::pair<std::size_t, std::uint64_t>> begun;
  {
    const std::lock_guard lock(changes_.mutex());
    begun.swap(begun_);
  }
  for (const auto& [stream, range] : begun) wire_.dealt->add_portion(stream, range);
}

void OutgoingStreams::receive_credits(int from) {
  std::vector<std::uint32_t>& into = destinations_[static_cast<std::size_t>(from)].received;
  ranks_.receive(from, wire_.credit_tag, std::as_writable_bytes(std::span(into)),
                 [this, from](std::size_t bytes) { take_credits(from, bytes / sizeof(std::uint32_t)); });
}

void OutgoingStreams::take_credits(int from, std::size_t count) {
  bool more = false;
  {
    const std::lock_guard lock(changes_.mutex());
    Destination& destination = destinations_[static_cast<std::size_t>(from)];
    // The last number is the checksum of the others.
    count -= std::min<std::size_t>(count, 1);
    const std::span<const std::uint32_t> credits = std::span(destination.received).first(count);
    if (count == 0 || destination.received[count] != io::crc32c(std::as_bytes(credits))) {
      corrupt_from_ = from;
    }
    if (corrupt_from_ < 0 && !take_numbers(destination, credits)) corrupt_from_ = from;
    // After a corrupt message all further credits are received and ignored, so that their senders can end.
    destination.expected_credits -= std::min<std::uint64_t>(count, destination.expected_credits);
    more = (wire_.dealt ? destination.open_threads : destination.expected_credits) > 0 || corrupt_from_ >= 0;
    changes_.notify();
  }
  if (more) receive_credits(from);
}

/// Takes the numbers of a message of credits. Returns whether they are possible. Requires: the mutex is held.
bool OutgoingStreams::take_numbers(Destination& destination, std::span<const std::uint32_t> numbers) {
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const std::uint32_t number = numbers[at];
    if (number == kNoMoreRanges && destination.open_threads > 0) {
      --destination.open_threads;
      open_threads_.fetch_sub(1, std::memory_order_release);
    } else if (number >= kBeginsRange) {
      if (++at == numbers.size() || !begin_range(destination, number - kBeginsRange, numbers[at])) return false;
    } else {
      const std::size_t stream = destination.streams.at(number);
      if (stream == kNoStream) return false;
      change(streams_[stream], [&] { ++streams_[stream].credits; });
    }
  }
  return true;
}

/// Adds the blocks of a range to the streams to a thread. Returns whether there are such streams and such a range.
/// Requires: the mutex is held.
bool OutgoingStreams::begin_range(Destination& destination, std::size_t thread, std::uint64_t range) {
  if (!wire_.dealt || range >= wire_.dealt->sizes.size()) return false;
  const std::size_t runs = wire_.dealt->runs;
  if ((thread + 1) * runs > destination.streams.size()) return false;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t at = destination.streams[thread * runs + run];
    const std::uint64_t blocks = wire_.dealt->sizes[range][run].blocks;
    Stream& stream = streams_[at];
    change(stream, [&] {
      stream.blocks += blocks;
      stream.left += blocks;
    });
    unfinished_.fetch_add(blocks, std::memory_order_release);
    begun_.emplace_back(at, range);
  }
  return true;
}

void OutgoingStreams::run(const Progress& progress) {
  bool stopped = false;
  while (!done() && !stopped) {
    const double begin = Monitor::begin_step();
    if (send_one()) {
      Monitor::end_step("send a block", begin);
      continue;
    }
    const Monitor::Wait wait("wait for credit", Monitor::Wait::kSomeRank);
    changes_.wait_until(
        [&] {
          stopped = stopped_;
          return stopped || can_send() || corrupt_from_ >= 0 || done();
        },
        progress);
  }
}

void OutgoingStreams::stop() {
  const std::lock_guard lock(changes_.mutex());
  stopped_ = true;
  changes_.notify();
}

}  // namespace hetsort::sort
