// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/transfer_flows.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <span>

#include "io/stopwatch.h"
#include "sort/failure/report_failure.h"
#include "sort/machine/processor_quota.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

namespace {

/// A buffer of a flow, for one message at a time.
struct FlowBuffer {
  std::vector<std::byte> block;
  std::byte credit{};
  int open = 0;  ///< number of a sender's messages that have not ended: the message, its credit or both
};

/// One flow of a rank. The receiver answers each message with a credit of one byte, and the sender has as many messages
/// under way as there are buffers. Otherwise a fast sender would fill the memory of a slow receiver, because short
/// messages leave before the receiver wants them.
struct FlowState {
  static constexpr std::uint64_t kMessageBytes = std::uint64_t{128} << 10;
  static constexpr std::size_t kBuffers = 4;
  int peer = 0;
  bool sends = false;
  std::uint64_t to_start = 0;
  std::uint64_t to_finish = 0;
  std::uint64_t bytes = 0;
  FlowTime time;
  std::array<FlowBuffer, kBuffers> buffers;
};

/// The flows of this rank.
class Transfer {
 public:
  Transfer(comm::Communicator& ranks, int tag) : ranks_(ranks), tag_(tag), wait_(ranks) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  FlowTimes run(const std::vector<Flow>& flows) {
    std::vector<FlowState*> of_flow(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const bool sends = flows[i].from == ranks_.rank();
      if (!sends && flows[i].to != ranks_.rank()) continue;
      of_flow[i] = states_.emplace_back(std::make_unique<FlowState>()).get();
      of_flow[i]->peer = sends ? flows[i].to : flows[i].from;
      of_flow[i]->sends = sends;
      of_flow[i]->bytes = of_flow[i]->to_start = of_flow[i]->to_finish = flows[i].bytes;
    }
    unfinished_ = states_.size();
    for (const auto& state : states_)
      for (FlowBuffer& buffer : state->buffers)
        buffer.block.resize(std::min(state->to_start, FlowState::kMessageBytes));
    ranks_.barrier();
    const double used_before = processor_seconds();
    try {
      transfer();
    } catch (const std::exception& error) {
      // Messages under way use the buffers. An abort of the job makes drain() throw, so no destructor may call it.
      report_failure(ranks_, error);
      ranks_.drain();
      throw;
    }
    FlowTimes times{std::vector<FlowTime>(flows.size()), processor_seconds() - used_before};
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (of_flow[i] != nullptr && !of_flow[i]->sends) times.flows[i] = of_flow[i]->time;
    return times;
  }

 private:
  void transfer() {
    watch_ = {};
    for (const auto& state : states_)
      for (FlowBuffer& buffer : state->buffers) start(*state, buffer);
    wait_.wait_until([this] { return unfinished_ == 0 && credits_under_way_ == 0; }, progress_of(ranks_));
  }

  void start(FlowState& state, FlowBuffer& buffer) {
    std::uint64_t bytes = 0;
    {
      const std::lock_guard lock(wait_.mutex());
      bytes = std::min(state.to_start, FlowState::kMessageBytes);
      state.to_start -= bytes;
      buffer.open = 2;
    }
    if (bytes == 0) return;
    if (state.sends) {
      ranks_.receive(state.peer, credit_tag(), std::span(&buffer.credit, 1),
                     [this, &state, &buffer, bytes](std::size_t) { end_part(state, buffer, bytes); });
      ranks_.send(state.peer, tag_, std::span(buffer.block).first(bytes),
                  [this, &state, &buffer, bytes] { end_part(state, buffer, bytes); });
      return;
    }
    // Messages may overtake each other on the way into the queue of one side, so each receive has room for the largest.
    ranks_.receive(state.peer, tag_, buffer.block, [this, &state, &buffer](std::size_t received) {
      start(state, buffer);  // the next one is posted before its sender may send it
      send_credit(state.peer);
      finish(state, received);
    });
  }

  void send_credit(int peer) {
    {
      const std::lock_guard lock(wait_.mutex());
      ++credits_under_way_;
    }
    ranks_.send(peer, credit_tag(), kCredit, [this] {
      const std::lock_guard lock(wait_.mutex());
      --credits_under_way_;
      wait_.notify();
    });
  }

  /// The buffer is free when the message has left and its credit has come.
  void end_part(FlowState& state, FlowBuffer& buffer, std::uint64_t bytes) {
    {
      const std::lock_guard lock(wait_.mutex());
      if (--buffer.open > 0) return;
    }
    start(state, buffer);
    finish(state, bytes);
  }

  void finish(FlowState& state, std::uint64_t bytes) {
    const std::lock_guard lock(wait_.mutex());
    const bool was_half = 2 * state.to_finish <= state.bytes;
    state.to_finish -= bytes;
    const double now = watch_.seconds();
    if (!was_half && 2 * state.to_finish <= state.bytes)
      state.time = {.half = now, .half_bytes = state.bytes - state.to_finish};
    if (state.to_finish > 0) return;
    state.time.all = now;
    --unfinished_;
    wait_.notify();
  }

  int credit_tag() const { return tag_ + 1; }

  static constexpr std::array<std::byte, 1> kCredit{};
  comm::Communicator& ranks_;
  int tag_;
  WaitPoint wait_;
  WakeOnFailure waking_{ranks_, wait_};
  io::Stopwatch watch_;
  std::vector<std::unique_ptr<FlowState>> states_;
  std::size_t unfinished_ = 0;
  std::size_t credits_under_way_ = 0;
};

}  // namespace

FlowTimes transfer_flows(comm::Communicator& ranks, int tag, const std::vector<Flow>& flows) {
  return Transfer(ranks, tag).run(flows);
}

}  // namespace hetsort::sort
