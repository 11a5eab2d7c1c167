// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sending half of phase exchange: portions of runs leave block by block, as the receivers have room for them.
//
// A stream consists of one run's portions for one thread of another rank, one for each part of that rank's share. A
// stream starts with some credits; each credit stands for one posted receive. At most as many blocks of a stream are in
// flight as the source has memory for. The ready stream of which the smallest fraction is sent comes first. At the
// beginning this is a stream to the next rank, so that ranks do not all send to the same destination at once.
//
// A stream waits if it is far ahead of another with blocks in flight. Without this rule, streams over fast links take
// the link of this rank from streams over slow ones. A receiver merges all its streams together, so that it then waits
// for the slowest of them while its link is idle.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

/// Credits that a new stream has if memory is planned for large blocks: the receiver has posted so many receives before
/// the exchange begins.
inline constexpr std::uint64_t kInitialCredits = 2;
/// Maximum credits of a new stream, if the memory of the planned blocks is divided into smaller ones.
inline constexpr std::uint64_t kMaxCredits = 16;

/// The blocks of a stream with `credits` to another host that may be in flight at a time. Credits to that host leave
/// behind them, and if both hosts send, each one's credits would wait for the other's blocks.
inline constexpr std::uint64_t most_in_flight(std::uint64_t credits) { return std::max<std::uint64_t>(2, credits / 4); }

/// The credits of a stream that its receiver collects for one message, if more blocks will follow.
inline constexpr std::uint64_t credits_of_message(std::uint64_t credits) {
  return std::max<std::uint64_t>(1, credits / 4);
}

// Numbers in a message of credits that are no streams, if the receivers decide which ranges they merge.
/// Plus a thread of the receiver: it begins the range whose number follows; the blocks of this range come next in all
/// its streams.
inline constexpr std::uint32_t kBeginsRange = std::uint32_t{1} << 31;
/// A thread of the receiver begins no more ranges.
inline constexpr std::uint32_t kNoMoreRanges = ~std::uint32_t{0};

struct StreamSize {
  std::uint64_t records = 0;
  std::uint64_t blocks = 0;
};

/// The size of a stream of `records` in blocks of `block_records`; the last block may hold fewer.
inline StreamSize stream_size(std::uint64_t records, std::uint64_t block_records) {
  return {records, (records + block_records - 1) / block_records};
}

/// Makes the blocks that are sent. Thread safety: one thread at a time.
class BlockSource {
 public:
  BlockSource() = default;
  BlockSource(const BlockSource&) = delete;
  BlockSource& operator=(const BlockSource&) = delete;
  virtual ~BlockSource() = default;

  /// The number of blocks of a stream that the source has memory for: 1 to kMaxCredits.
  virtual std::size_t depth() const = 0;
  /// The stream's next block of whole records, with kTrailerBytes writable behind them. It stays valid until next() was
  /// called depth() times more for this stream. Throws: io::Error.
  virtual std::span<std::byte> next(std::size_t stream) = 0;
  /// Whether the blocks of a stream are made where their receiver merges them, behind room for a trailer: then only the
  /// trailer is sent.
  virtual bool is_at_receiver(std::size_t /*stream*/) const { return false; }
};

struct OutgoingStream {
  int to = 0;
  std::uint32_t number = 0;  ///< number among the streams to that rank; the stream's tag is the first tag plus this
  std::vector<StreamSize> parts;

  std::uint64_t blocks() const {
    std::uint64_t sum = 0;
    for (const StreamSize& part : parts) sum += part.blocks;
    return sum;
  }
};

/// All streams that leave a rank: decides which block is sent next. Thread safety: any thread.
class OutgoingStreams {
 public:
  /// What the streams need to know if the receivers decide which ranges they merge. The parts known from the beginning
  /// are the first range of each thread.
  struct Dealt {
    std::size_t runs = 0;                        ///< streams to each thread of another rank
    std::vector<std::vector<StreamSize>> sizes;  ///< size of the portion of each run, for each range
    /// Adds a portion to the contents of a stream. Never called during a call of the source.
    std::function<void(std::size_t stream, std::uint64_t range)> add_portion;
  };
  struct Wire {
    int first_tag = 0;  ///< tag of the streams' blocks: the tag of a stream is this plus its number
    int credit_tag = 0;
    std::uint64_t credits = kInitialCredits;  ///< credits of a new stream; at most kMaxCredits
    std::optional<Dealt> dealt{};
  };

  OutgoingStreams(comm::Communicator& ranks, BlockSource& source, const std::vector<OutgoingStream>& streams,
                  const Wire& wire);
  OutgoingStreams(const OutgoingStreams&) = delete;
  OutgoingStreams& operator=(const OutgoingStreams&) = delete;

  /// Sends one block if a stream is ready and no other thread is in this call. Returns whether it did.
  /// Throws: what the source throws.
  bool send_one();
  /// Whether the receivers have received all blocks.
  bool done() const {
    return unfinished_.load(std::memory_order_acquire) == 0 && open_threads_.load(std::memory_order_acquire) == 0;
  }
  /// Sends blocks until all are received, or until stop() is called. Throws: PeerFailed; what the source throws.
  void run(const Progress& progress = {});
  void stop();
  void wake() { changes_.wake(); }

 private:
  struct Stream {
    int to = 0;
    std::uint32_t number = 0;
    std::uint64_t blocks = 0;
    std::uint64_t left = 0;      // blocks not sent yet
    std::uint64_t received = 0;  // number of blocks that were received
    std::uint64_t credits = 0;
    std::uint64_t most_in_flight = 0;
    std::size_t order = 0;                      // rank among streams of which the same fraction is sent
    std::array<bool, kMaxCredits> in_flight{};  // whether block n is in flight, at n % depth

    std::uint64_t next_block() const { return blocks - left; }
    std::uint64_t blocks_in_flight() const { return next_block() - received; }
    /// Whether blocks of the stream are in flight, and more will follow.
    bool is_under_way() const { return left > 0 && next_block() > received; }
    double fraction_of(std::uint64_t some) const {
      return static_cast<double>(some) / static_cast<double>(std::max<std::uint64_t>(blocks, 1));
    }
  };
  static constexpr std::size_t kNoStream = ~std::size_t{0};
  struct Destination {
    std::vector<std::size_t> streams;  // streams to this destination, by number; kNoStream for empty ones
    std::uint64_t expected_credits = 0;
    std::uint64_t open_threads = 0;  // threads that may begin further ranges
    std::vector<std::uint32_t> received;
  };

  /// Streams in the order of a fraction of their blocks, then by `order`.
  using Queue = std::set<std::pair<double, std::size_t>>;

  void queue_all();
  void queue_if_ready(const Stream& stream);
  bool can_send() const;
  template <typename Change>
  void change(Stream& stream, const Change& apply);
  void receive_credits(int from);
  void take_credits(int from, std::size_t count);
  bool take_numbers(Destination& destination, std::span<const std::uint32_t> numbers);
  bool begin_range(Destination& destination, std::size_t thread, std::uint64_t range);
  void add_portions();
  void sent(std::size_t number, std::uint64_t block);

  comm::Communicator& ranks_;
  BlockSource& source_;
  Wire wire_;
  std::vector<Stream> streams_;
  std::vector<Destination> destinations_;
  std::mutex sending_;                 // held while a thread fills a block
  WaitPoint changes_;                  // its mutex guards streams, destinations and the members below
  std::vector<std::size_t> in_order_;  // streams by `order`
  Queue ready_;                        // ordered by the fraction that is sent
  Queue under_way_;                    // ordered by the fraction that is received
  std::vector<std::pair<std::size_t, std::uint64_t>> begun_;  // streams and ranges of which add_portion() knows nothing
  bool stopped_ = false;
  std::atomic<int> corrupt_from_{-1};           // rank whose credits arrived corrupt; -1 = none
  std::atomic<std::uint64_t> unfinished_{0};    // number of blocks that are not received yet
  std::atomic<std::uint64_t> open_threads_{0};  // sum of those of all destinations
};

}  // namespace hetsort::sort
