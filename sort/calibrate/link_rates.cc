// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/link_rates.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "io/stopwatch.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

namespace {

using Keep = std::function<bool(const std::string& from, const std::string& to)>;

/// Measures several transfers, one after the other.
class LinkMeter {
 public:
  LinkMeter(Bench& bench, double seconds, comm::Communicator& ranks)
      : bench_(bench), ranks_(ranks), seconds_(seconds) {}

  /// The rates of flows that run at once. Each flow grows until it takes long enough. A flow that never takes long
  /// enough counts as taking a quarter of that time, and is added to `too_fast`.
  std::vector<double> rates(std::vector<Flow> flows, std::vector<Flow>* too_fast = nullptr) {
    constexpr std::uint64_t kFirstBytes = std::uint64_t{1} << 18;
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
    constexpr int kMaxSteps = 8;
    for (Flow& flow : flows) flow.bytes = kFirstBytes;
    std::vector<double> rates(flows.size());
    bool enough = flows.empty();
    for (int step = 0; step < kMaxSteps && !enough; ++step) {
      const std::vector<double> seconds = transfer(flows);
      enough = true;
      for (std::size_t i = 0; i < flows.size(); ++i) {
        // A shorter time is the time of waking threads, not of the link.
        const double least_seconds = seconds_ / 4;
        rates[i] = static_cast<double>(flows[i].bytes) / std::max(seconds[i], least_seconds);
        if (seconds[i] >= seconds_) continue;
        enough = false;
        if (step + 1 == kMaxSteps && seconds[i] < least_seconds && too_fast != nullptr) too_fast->push_back(flows[i]);
        const double times = std::clamp(1.5 * seconds_ / seconds[i], 2.0, 16.0);
        flows[i].bytes = std::min(kMaxBytes, static_cast<std::uint64_t>(times * static_cast<double>(flows[i].bytes)));
      }
    }
    return rates;
  }

  /// The sum of the rates of all flows between hosts that `keep` accepts.
  double sum(const Keep& keep) {
    std::vector<Flow> flows;
    for (int from = 0; from < ranks_.size(); ++from)
      for (int to = 0; to < ranks_.size(); ++to)
        if (ranks_.host(from) != ranks_.host(to) && keep(ranks_.host(from), ranks_.host(to)))
          flows.push_back({from, to, 0});
    const std::vector<double> all = rates(std::move(flows));
    return std::accumulate(all.begin(), all.end(), 0.0);
  }

 private:
  /// The seconds of each flow, on all ranks.
  std::vector<double> transfer(const std::vector<Flow>& flows) {
    const std::vector<std::vector<double>> all = ranks_.all_gather_lists(bench_.transfer(flows));
    std::vector<double> seconds;
    for (std::size_t i = 0; i < flows.size(); ++i)
      seconds.push_back(std::max(1e-9, all[static_cast<std::size_t>(flows[i].to)][i]));
    return seconds;
  }

  Bench& bench_;
  comm::Communicator& ranks_;
  double seconds_;  // minimum time of each flow
};

/// The flows of a round in which each rank sends one flow and receives one.
std::vector<Flow> around_circle(int distance, int ranks) {
  std::vector<Flow> flows(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) flows[static_cast<std::size_t>(rank)] = {rank, (rank + distance) % ranks, 0};
  return flows;
}

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
  double seconds = 0;
  std::array<FlowBuffer, kBuffers> buffers;
};

/// The flows of this rank.
class Transfer {
 public:
  Transfer(comm::Communicator& ranks, int tag) : ranks_(ranks), tag_(tag), wait_(ranks) {}
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (ranks_.failed()) ranks_.drain();
  }

  std::vector<double> run(const std::vector<Flow>& flows) {
    std::vector<FlowState*> of_flow(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const bool sends = flows[i].from == ranks_.rank();
      if (!sends && flows[i].to != ranks_.rank()) continue;
      of_flow[i] = states_.emplace_back(std::make_unique<FlowState>()).get();
      of_flow[i]->peer = sends ? flows[i].to : flows[i].from;
      of_flow[i]->sends = sends;
      of_flow[i]->to_start = of_flow[i]->to_finish = flows[i].bytes;
    }
    unfinished_ = states_.size();
    ranks_.barrier();
    watch_ = {};
    for (const auto& state : states_)
      for (FlowBuffer& buffer : state->buffers) {
        buffer.block.resize(FlowState::kMessageBytes);
        start(*state, buffer);
      }
    wait_.wait_until([this] { return unfinished_ == 0 && credits_under_way_ == 0; }, progress_of(ranks_));
    std::vector<double> seconds(flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (of_flow[i] != nullptr && !of_flow[i]->sends) seconds[i] = of_flow[i]->seconds;
    return seconds;
  }

 private:
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
    state.to_finish -= bytes;
    if (state.to_finish > 0) return;
    state.seconds = watch_.seconds();
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

LinkRates measure_links(Bench& bench, double seconds, comm::Communicator& ranks) {
  // If all hosts at once reach less than this fraction of what their links carry, they share a link.
  constexpr double kSharedPart = 0.6;
  // A measurement makes a few shorter transfers before the one that counts.
  constexpr double kSteps = 3;
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<std::string> hosts(count);
  for (std::size_t rank = 0; rank < count; ++rank) hosts[rank] = ranks.host(static_cast<int>(rank));
  std::vector<std::string> names = hosts;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t tests = count + 2 * names.size();
  LinkMeter meter(bench, seconds / kSteps / static_cast<double>(tests), ranks);
  LinkRates rates{std::vector(count, std::vector<double>(count)), std::vector<double>(count),
                  std::vector<double>(count)};
  for (int distance = 1; distance < ranks.size(); ++distance) {
    const std::vector<Flow> flows = around_circle(distance, ranks.size());
    const std::vector<double> found = meter.rates(flows, &rates.too_fast);
    for (std::size_t i = 0; i < flows.size(); ++i)
      rates.between[static_cast<std::size_t>(flows[i].from)][static_cast<std::size_t>(flows[i].to)] = found[i];
  }
  if (names.size() < 2) return rates;
  double sum_out = 0;
  double sum_in = 0;
  for (const std::string& name : names) {
    const double out = meter.sum([&](const std::string& from, const std::string&) { return from == name; });
    const double in = meter.sum([&](const std::string&, const std::string& to) { return to == name; });
    for (std::size_t rank = 0; rank < count; ++rank)
      if (hosts[rank] == name) rates.out[rank] = out, rates.in[rank] = in;
    sum_out += out;
    sum_in += in;
  }
  const double all = meter.sum([](const std::string&, const std::string&) { return true; });
  if (all < kSharedPart * std::min(sum_out, sum_in)) rates.all = all;
  return rates;
}

std::vector<double> transfer_flows(comm::Communicator& ranks, int tag, const std::vector<Flow>& flows) {
  return Transfer(ranks, tag).run(flows);
}

}  // namespace hetsort::sort
