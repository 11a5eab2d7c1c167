// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are threads of one process, for tests and sanitizers: the same communicator over a transport that takes
// every liberty a real one has, by a seed. Messages arrive late and, but for those of one (from, tag), in any order;
// a send may complete only when it is received, so that nothing works by luck of the transport's buffers.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::comm {

struct InProcessOptions {
  CommunicatorOptions communicator;
  /// The share of the sends that complete only when they are received, however small.
  double rendezvous = 0.5;
  /// A message arrives up to this long after it was sent.
  int longest_delay_microseconds = 100;
  int largest_tag = 32767;  ///< what MPI promises at least
  /// Host names are node0, node1, ...; this many ranks share one.
  int ranks_per_host = 1;

  // Faults.
  /// The n-th message of users, counted over all ranks from 1, arrives with one bit flipped. 0 = none.
  std::uint64_t corrupt_message = 0;
  std::atomic<int>* flipped_bits = nullptr;  ///< counts them, if given: a message may be empty, or the n-th never sent
  /// This rank stands still, as a stopped process does, after that many sends of any kind. -1 = none.
  int stopped_rank = -1;
  std::uint64_t stopped_after_sends = 0;
};

/// The transports of `count` ranks that make one job; each is to be made once, and ends before or after the others'.
std::vector<Communicator::MakeTransport> make_in_process_job(int count, std::uint64_t seed,
                                                             const InProcessOptions& options);

/// How one rank's body ended.
struct RankEnd {
  std::exception_ptr error;  ///< what the body threw
  std::string message;       ///< its what(), if it threw
  std::string conclusion;    ///< what conclude() said
};

using RankBody = std::function<void(Communicator&)>;

/// Runs body(ranks) on `count` ranks, each on a thread of its own. A body that throws anything but PeerFailed fails its
/// rank. All ranks conclude in the end, unless the body has.
std::vector<RankEnd> try_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body);

/// The same. Throws: the first failure's exception, of all ranks'; std::runtime_error of a conclusion without one.
void run_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body);

}  // namespace hetsort::comm
