// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks rank 0 which range a thread merges next (deal_table.h).
//
// Rank 0 answers on its communicating thread, independently of its other threads. Each thread of each rank has at most
// one request under way, and asks before it needs the answer. Both messages carry a checksum, because a wrong range
// would be written twice or not at all.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "io/stopwatch.h"
#include "sort/deal/deal_table.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

class RangeDealer {
 public:
  /// `threads`: number of merging threads of each rank.
  RangeDealer(comm::Communicator& ranks, int first_tag, std::vector<std::uint64_t> threads);
  RangeDealer(const RangeDealer&) = delete;
  RangeDealer& operator=(const RangeDealer&) = delete;

  /// The number of tags that it needs.
  static int tags(const std::vector<std::uint64_t>& threads);
  /// The time after which a thread that waits for blocks should ask whether to copy runs. Rank 0 must not be busy with
  /// the questions of all threads.
  std::chrono::duration<double> pause_between_reports() const;
  /// Call on rank 0, before a barrier that precedes the first request of any rank.
  void serve(DealTable table);

  /// Sends a request. Requires: the thread has taken the answer to its last one, which was not kNone.
  void ask(std::size_t thread, const RangeRequest& request);
  /// Takes the answer, if it has arrived. Throws: std::runtime_error for a corrupt one.
  std::optional<RangeAnswer> take(std::size_t thread);
  /// Waits for the answer and takes it. Throws: as take(); PeerFailed.
  RangeAnswer await(std::size_t thread);
  /// On rank 0: waits until all threads of all ranks know that no range is left. Throws: PeerFailed.
  void finish();
  void wake() { waiting_.wake(); }

 private:
  using Request = std::array<std::uint64_t, 8>;
  using Answer = std::array<std::uint64_t, 3>;
  struct Asking {
    bool arrived = false;
    Answer answer{};
  };

  int request_tag(std::size_t thread) const { return first_tag_ + static_cast<int>(thread); }
  int answer_tag(std::size_t thread) const { return first_tag_ + static_cast<int>(most_threads_ + thread); }
  void post(std::size_t rank, std::size_t thread);
  void answer(std::size_t rank, std::size_t thread);
  RangeAnswer decide(std::size_t rank, std::size_t thread, RangeRequest request);
  std::string corrupt(const char* what, std::size_t from) const;

  comm::Communicator& ranks_;
  int first_tag_;
  std::size_t most_threads_;
  std::vector<std::uint64_t> threads_;
  WaitPoint waiting_;  // its mutex guards the members below
  std::vector<Asking> asking_;
  std::optional<DealTable> table_;  // set on rank 0 only
  std::vector<std::vector<Request>> requests_;
  std::uint64_t open_ = 0;  // threads of all ranks that may still ask
  io::Stopwatch since_begin_;
};

}  // namespace hetsort::sort
