// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The receiving half of phase exchange: streams for one thread of this rank, merged while they arrive, part by part.
//
// Each stream owns two blocks of memory with a receive posted for each that is free. A block given back is posted
// again first, then its credit goes to the sender: a credit always stands for a posted receive.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sort/exchange/outgoing_streams.h"
#include "sort/exchange/wait_point.h"
#include "sort/merge/record_streams.h"

namespace hetsort::sort {

struct IncomingStream {
  int from = 0;
  std::uint32_t number = 0;  ///< among the streams from that rank to this one
  std::vector<StreamSize> parts;
};

/// Thread safety: next() from one thread.
class IncomingStreams : public RecordStreams {
 public:
  struct Wire {
    int first_tag = 0;
    int credit_tag = 0;
    std::size_t block_bytes = 0;  ///< records in the largest block
    std::size_t record_bytes = 0;
    Help help;
  };

  static std::size_t memory_needed(std::size_t streams, std::size_t block_bytes);
  /// `memory`: memory_needed().
  IncomingStreams(comm::Communicator& ranks, const std::vector<IncomingStream>& streams, std::span<std::byte> memory,
                  const Wire& wire);

  std::size_t streams() const override { return streams_.size(); }
  /// A stream's part ends with an empty span. Throws: PeerFailed; io::Error for a corrupt block, or for a part that
  /// ends with other than its records.
  std::span<const std::byte> next(std::size_t stream) override;
  /// All streams go on with their next part. Requires: next() came to the end of this one in each.
  void next_part();
  /// Waits until the last credits are received; after the last next(). Throws: PeerFailed.
  void finish();
  void wake() { arrivals_.wake(); }

 private:
  struct Stream {
    IncomingStream what;
    std::uint64_t blocks = 0;                                  // of all parts
    std::size_t part = 0;                                      // being merged
    std::uint64_t part_end = 0;                                // blocks up to its end
    std::uint64_t asked = 0;                                   // blocks for which a receive was posted
    std::uint64_t taken = 0;                                   // blocks handed to the merge
    std::uint64_t records = 0;                                 // in those of the part
    std::array<std::size_t, kInitialCredits> message_bytes{};  // per buffer; 0 = not arrived
    bool holding = false;
  };
  struct Source {
    std::vector<std::uint32_t> owed;        // credits not sent yet
    std::vector<std::uint32_t> on_its_way;  // being sent
  };

  std::byte* memory_of(std::size_t stream, std::uint64_t block) const;
  void post(std::size_t stream);
  void give_back(std::size_t stream);
  static void seal_owed(Source& source);
  void send_credits(int to);

  comm::Communicator& ranks_;
  Wire wire_;
  std::span<std::byte> memory_;
  std::vector<Stream> streams_;
  std::map<int, Source> sources_;
  WaitPoint arrivals_;  // its mutex guards streams and sources
};

}  // namespace hetsort::sort
