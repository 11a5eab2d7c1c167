// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <span>
#include <stdexcept>
#include <vector>

#include "io/error.h"
#include "sort/model/wait_point.h"

namespace hetsort::sort {

namespace {

/// The probe moves at most 1/kPartOfInput of the input: little beside the exchange, which moves nearly all of it.
constexpr std::uint64_t kPartOfInput = 64;
constexpr std::uint64_t kMaxTurns = 12;
constexpr std::size_t kMessageBytes = std::size_t{64} << 10;
constexpr std::size_t kMessages = LinkProbe::kBurstBytes / kMessageBytes;
constexpr double kMaxRate = 1e15;  // no network is faster

}  // namespace

int probe_turns(std::uint64_t input_bytes, int ranks) {
  if (ranks < 2) return 0;
  const std::uint64_t bursts = input_bytes / static_cast<std::uint64_t>(ranks) / kPartOfInput / LinkProbe::kBurstBytes;
  return static_cast<int>(std::min(bursts, kMaxTurns));
}

/// The bursts that this rank asks for, one after the other, and those that others ask it for.
class LinkProbe::Turns : public std::enable_shared_from_this<Turns> {
 public:
  Turns(int turns, comm::Communicator& ranks)
      : ranks_(ranks), wait_(ranks), tag_(ranks.take_tags(2)), out_(kMessageBytes), in_(kBurstBytes) {
    // Neighbours often share a host, so the partners of the turns are spread over all ranks.
    const int others = ranks.size() - 1;
    const int step = std::max(1, others / std::max(1, turns));
    for (int turn = 0; turn < turns; ++turn) {
      const int distance = 1 + turn * step % others;
      const int from = (ranks.rank() + distance) % ranks.size();
      const int to = (ranks.rank() - distance + ranks.size()) % ranks.size();
      if (ranks.host(from) != ranks.host()) sources_.push_back(from);
      if (ranks.host(to) != ranks.host()) questions_from_.push_back(to);
    }
    questions_.resize(questions_from_.size());
  }

  /// Posts a receive for each question of other ranks.
  void post() {
    for (std::size_t i = 0; i < questions_.size(); ++i)
      ranks_.receive(questions_from_[i], tag_, std::span(questions_).subspan(i, 1),
                     [self = shared_from_this(), to = questions_from_[i]](std::size_t) { self->send_burst(to); });
  }

  /// Asks for the next burst, if there is one. Requires: the other ranks have called post().
  void ask() {
    const std::lock_guard lock(wait_.mutex());
    if (turn_ == sources_.size()) return;
    arrived_ = 0;
    const int from = sources_[turn_];
    for (std::size_t i = 0; i < kMessages; ++i)
      ranks_.receive(from, tag_ + 1, std::span(in_).subspan(i * kMessageBytes, kMessageBytes),
                     [self = shared_from_this()](std::size_t bytes) { self->on_data(bytes); });
    asked_ = Clock::now();
    send(from, tag_, std::span(out_).first(1));
  }

  double fastest() {
    const WakeOnFailure waking(ranks_, wait_);
    wait_.wait_until([this] { return turn_ == sources_.size() && bursts_ == questions_.size() && sending_ == 0; }, {});
    return fastest_;
  }

 private:
  using Clock = comm::Clock;

  /// Sends one message of the probe. Requires: the mutex is held.
  void send(int to, int tag, std::span<const std::byte> data) {
    ++sending_;
    ranks_.send(to, tag, data, [self = shared_from_this()] {
      const std::lock_guard lock(self->wait_.mutex());
      --self->sending_;
      self->wait_.notify();
    });
  }

  void send_burst(int to) {
    const std::lock_guard lock(wait_.mutex());
    for (std::size_t i = 0; i < kMessages; ++i) send(to, tag_ + 1, out_);
    ++bursts_;
  }

  void on_data(std::size_t bytes) {
    {
      const std::lock_guard lock(wait_.mutex());
      if (bytes != kMessageBytes) {
        const std::string from =
            fmt::format("a message from rank {} ({})", sources_[turn_], ranks_.host(sources_[turn_]));
        ranks_.fail(
            io::Error("receive", from, fmt::format("corrupt message: it measures links and has {} bytes", bytes))
                .what());
        return;
      }
      if (++arrived_ < kMessages) return;
      const double seconds = std::chrono::duration<double>(Clock::now() - asked_).count();
      fastest_ = std::max(fastest_, static_cast<double>(kBurstBytes) / seconds);
      ++turn_;
      wait_.notify();
    }
    ask();
  }

  comm::Communicator& ranks_;
  WaitPoint wait_;  // its mutex guards all that changes
  const int tag_;   // tag of questions; data have the next one
  const std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::vector<int> sources_;         // the rank to ask, for each turn
  std::vector<int> questions_from_;  // the rank that asks, for each turn
  std::vector<std::byte> questions_;
  std::size_t turn_ = 0;
  std::size_t arrived_ = 0;  // messages of this turn that have arrived
  std::size_t bursts_ = 0;   // bursts that were sent
  std::size_t sending_ = 0;
  Clock::time_point asked_{};
  double fastest_ = 0;
};

LinkProbe::LinkProbe(int turns, comm::Communicator& ranks)
    : ranks_(ranks), turns_(std::make_shared<Turns>(turns, ranks)) {
  turns_->post();
  ranks.barrier();
  turns_->ask();
}

LinkProbe::~LinkProbe() = default;

std::optional<double> LinkProbe::rate() {
  const auto mine = std::bit_cast<std::uint64_t>(turns_->fastest());
  // The bits of doubles from 0 on compare as the doubles do.
  const auto rate = std::bit_cast<double>(ranks_.all_reduce_max(mine));
  if (!(rate >= 0 && rate <= kMaxRate))
    throw std::runtime_error("a rank reports an impossible rate of its link: network or memory changed it");
  return rate > 0 ? std::optional(rate) : std::nullopt;
}

}  // namespace hetsort::sort
