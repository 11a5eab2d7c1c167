// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of one process, for tests and sanitizers: the same communicator over a transport that behaves
// as badly as a real one may, by a seed. Messages arrive late and in any order, except those of one (from, tag). A send
// may complete only when its message is received, so that nothing depends on the transport's buffers.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "tests/machinery/faulty_transport.h"

namespace hetsort::machinery {

struct InProcessOptions {
  comm::CommunicatorOptions communicator;
  /// The fraction of the sends that complete only when they are received, however small.
  double rendezvous = 0.5;
  /// A message arrives up to this long after it was sent.
  int longest_delay_microseconds = 100;
  int largest_tag = 32767;  ///< the transport's largest tag; MPI guarantees this one
  /// Host names are node0, node1, ...; this many ranks share one.
  int ranks_per_host = 1;
  std::atomic<std::uint64_t>* polls = nullptr;  ///< counter of the calls that look for messages, of all ranks

  // Faults that are made on purpose.
  MessageFault fault;  ///< fault of one control message
  /// The n-th message of users, counted over all ranks from 1, arrives with one bit flipped. 0 = none.
  std::uint64_t corrupt_message = 0;
  std::atomic<int>* flipped_bits = nullptr;  ///< counter of flipped bits: the message may be empty, or never be sent
  /// This rank stops, as by SIGSTOP, after stopped_after_sends sends of any kind. -1 = none.
  int stopped_rank = -1;
  std::uint64_t stopped_after_sends = 0;
};

/// The transports of the `count` ranks of one job. Each must be made once; they may end in any order.
std::vector<comm::MakeTransport> make_in_process_job(int count, std::uint64_t seed, const InProcessOptions& options);

/// How one rank's body ended.
struct RankEnd {
  std::exception_ptr error;  ///< exception that the body threw
  std::string message;       ///< its what(), if it threw
  std::string conclusion;    ///< result of conclude()
};

using RankBody = std::function<void(comm::Communicator&)>;

/// Runs body(ranks) on `count` ranks, each on a thread of its own. A body that throws anything but PeerFailed fails its
/// rank. All ranks conclude in the end.
std::vector<RankEnd> try_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body);

/// Runs body(ranks) as try_ranks() does. Throws: the exception of the first failure of all ranks, or std::runtime_error
/// with the conclusion.
void run_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body);

}  // namespace hetsort::machinery
