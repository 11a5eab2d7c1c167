// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The receiving half of phase exchange: the streams that one thread of this rank merges while they arrive, part by
// part.
//
// Each stream has memory for a few blocks, with a receive posted for each that is free. When the merge has used a
// block, first its receive is posted again, then a credit goes to the sender: every credit stands for a posted receive.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/model/record_streams.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

struct IncomingStream {
  int from = 0;
  std::uint32_t number = 0;  ///< number of the stream among those from that rank to this one
  std::vector<StreamSize> parts;
  std::size_t place = 0;  ///< number of its buffers among those of all streams that the merging thread may have
};

/// The streams of one merging thread, and the posting of their receives. Thread safety: next() from one thread.
class IncomingStreams : public RecordStreams {
 public:
  struct Wire {
    int first_tag = 0;
    int credit_tag = 0;
    std::size_t block_bytes = 0;  ///< bytes of records in the largest block
    std::size_t record_bytes = 0;
    Progress progress;
    std::uint64_t credits = kInitialCredits;  ///< credits of a new stream; at most kMaxCredits
    std::size_t places = 1;                   ///< streams for which the memory has buffers
    /// Called by next() once a stream has receives posted for all blocks of its parts: it has room for more. Empty if
    /// all parts are known from the beginning.
    std::function<void()> has_room{};
    /// Called by next() again and again, each time it has waited so long.
    std::function<void()> waits{};
    std::chrono::duration<double> long_wait = WaitPoint::kForever;
  };

  static std::size_t memory_needed(const Wire& wire);
  /// `memory`: memory_needed() bytes.
  IncomingStreams(comm::Communicator& ranks, const std::vector<IncomingStream>& streams, std::span<std::byte> memory,
                  const Wire& wire);

  std::size_t streams() const override { return streams_.size(); }
  const IncomingStream& info(std::size_t stream) const { return streams_[stream].info; }
  /// Returns an empty span at the end of a stream's part. Throws: PeerFailed; io::Error for a corrupt block, or for a
  /// part that has not the announced number of records.
  std::span<const std::byte> next(std::size_t stream) override;
  /// Continues all streams with their next part. Requires: next() has reached the end of the current part in each
  /// stream.
  void next_part();
  /// Adds a part to all streams: the `range` that `thread` merges after those before. `sizes`: of each stream. The
  /// senders of what arrives are told. Requires: Wire::has_room.
  void add_part(std::size_t thread, std::uint64_t range, const std::vector<StreamSize>& sizes);
  /// The records of the current part that have been taken, as a fraction of all that arrive for it; 1 if none do.
  double fraction_of_part() const;
  /// Seconds that next() has waited for blocks.
  double waited_seconds() const { return waited_seconds_; }
  /// The rank for whose blocks next() has waited the longest since the last call of this function, and the seconds.
  std::pair<int, double> take_longest_wait();
  /// After the last next(): waits until the senders have received the last credits. Throws: PeerFailed.
  void finish();
  void wake() { arrivals_.wake(); }

 private:
  struct Stream {
    IncomingStream info;
    std::uint64_t blocks = 0;                              // blocks of all parts
    std::size_t part = 0;                                  // number of the part that is being merged
    std::uint64_t part_end = 0;                            // blocks up to the end of this part
    std::uint64_t posted = 0;                              // number of blocks for which a receive was posted
    std::uint64_t owed = 0;                                // credits that wait for others of the stream
    std::uint64_t taken = 0;                               // number of blocks that the merge has finished
    std::uint64_t records = 0;                             // records of this part so far
    std::array<std::size_t, kMaxCredits> message_bytes{};  // size of the message in each buffer; 0 = not arrived
    bool in_use = false;                                   // the merge reads block `taken`
  };
  struct Source {
    std::vector<std::uint32_t> owed;       // credits that are not sent yet
    std::vector<std::uint32_t> in_flight;  // credits that are being sent
  };

  std::byte* memory_of(const Stream& stream, std::uint64_t block) const;
  void post(std::size_t stream);
  void await(const Stream& stream);
  bool has_room(const Stream& stream) const;
  void give_back(std::size_t stream);
  void send_owed(int to);
  static void seal_owed(Source& source);
  void send_credits(int to);

  comm::Communicator& ranks_;
  Wire wire_;
  std::span<std::byte> memory_;
  std::vector<Stream> streams_;
  std::map<int, Source> sources_;
  double waited_seconds_ = 0;
  std::map<int, double> waited_for_;      // seconds since take_longest_wait(), for each rank
  WaitPoint arrivals_;                    // its mutex guards streams, sources and the next two
  const std::size_t* awaited_ = nullptr;  // the place for the size of the block that next() has awaited last
  bool is_ending_ = false;                // whether finish() has been called
};

}  // namespace hetsort::sort
