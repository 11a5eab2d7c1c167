// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/link_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <span>

#include "io/error.h"

namespace hetsort::sort {

namespace {

constexpr int kProbeTags = 2;  // grants, data

/// The part of the input that the probe may move: small beside the exchange, which moves nearly all of it.
constexpr std::uint64_t kPartOfInput = 64;
/// Fewer messages would measure the polls of the communicating thread, which are up to 2 ms apart.
constexpr std::uint64_t kMinProbeMessages = 16;
/// The window is then 2 MiB. With these polls, links much faster than 10 Gb/s seem slower than they are.
constexpr std::uint64_t kMaxProbeMessages = 128;
/// Enough different partners to find the rate of a link whose other partners have slower ones.
constexpr int kMinProbeRounds = 3;
constexpr int kMaxProbeRounds = 8;

/// A grant is one byte. No byte = no more grants.
constexpr std::array<std::byte, 1> kGrant{};

}  // namespace

ProbePlan plan_link_probe(std::uint64_t input_bytes, int ranks) {
  ProbePlan plan;
  if (ranks < 2) return plan;
  const std::uint64_t messages =
      input_bytes / static_cast<std::uint64_t>(ranks) / kPartOfInput / ProbePlan::kMessageBytes;
  const int others = ranks - 1;
  const int rounds =
      static_cast<int>(std::min<std::uint64_t>(messages / kMinProbeMessages, std::min(others, kMaxProbeRounds)));
  if (rounds < std::min(others, kMinProbeRounds)) return plan;
  // Evenly spread, so that neighbours, which often share a host, are not the only partners.
  for (int round = 0; round < rounds; ++round)
    plan.distances.push_back(1 + static_cast<int>((2 * std::int64_t{round} + 1) * others / (2 * std::int64_t{rounds})));
  plan.messages = static_cast<int>(std::min(messages / static_cast<std::uint64_t>(rounds), kMaxProbeMessages));
  return plan;
}

namespace {

int sender_to(const comm::Communicator& ranks, int distance) {
  return (ranks.rank() - distance + ranks.size()) % ranks.size();
}
int receiver_from(const comm::Communicator& ranks, int distance) { return (ranks.rank() + distance) % ranks.size(); }

}  // namespace

bool crosses_hosts(const ProbePlan& plan, const comm::Communicator& ranks) {
  for (const int distance : plan.distances)
    for (int rank = 0; rank < ranks.size(); ++rank)
      if (ranks.host(rank) != ranks.host((rank + distance) % ranks.size())) return true;
  return false;
}

/// Both directions of all rounds. Its callbacks keep it alive.
class LinkProbe::Rounds : public std::enable_shared_from_this<Rounds> {
 public:
  Rounds(const ProbePlan& plan, comm::Communicator& ranks)
      : plan_(plan),
        ranks_(ranks),
        first_tag_(ranks.take_tags(kProbeTags)),
        out_data_(ProbePlan::kMessageBytes),
        grants_(plan.distances.size() + static_cast<std::size_t>(plan.window())),
        in_data_(static_cast<std::size_t>(plan.window()) * ProbePlan::kMessageBytes) {
    for (const int distance : plan.distances) {
      in_.push_back({.from = sender_to(ranks, distance)});
      out_.push_back({.to = receiver_from(ranks, distance)});
    }
  }

  /// Posts the receive of the first grant of each round. Other ranks may grant when all ranks have done so.
  void post() {
    const std::lock_guard lock(mutex_);
    for (std::size_t round = 0; round < out_.size(); ++round) {
      out_[round].is_over = !crosses(out_[round].to);
      if (out_[round].is_over) continue;
      ranks_.receive(out_[round].to, grant_tag(), std::span(grants_).subspan(round, 1),
                     [self = shared_from_this(), round](std::size_t bytes) { self->on_first_grant(round, bytes > 0); });
    }
    serve();
  }

  void start() {
    const std::lock_guard lock(mutex_);
    begin_round();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return in_round_ == in_.size() && out_round_ == out_.size() && sending_ == 0;
  }

  std::vector<double> rates() const {
    const std::lock_guard lock(mutex_);
    std::vector<double> rates;
    for (const In& in : in_) {
      const double seconds = std::chrono::duration<double>(in.last - in.first).count();
      const bool enough = in.arrived >= plan_.messages / 2 && seconds > 0;
      rates.push_back(enough ? (in.arrived - 1) * static_cast<double>(ProbePlan::kMessageBytes) / seconds : 0);
    }
    return rates;
  }

 private:
  using Clock = comm::Clock;
  /// What this rank receives in a round.
  struct In {
    int from = 0;
    int granted = 0;
    int arrived = 0;
    Clock::time_point first{};
    Clock::time_point last{};
  };
  /// What this rank sends in a round.
  struct Out {
    int to = 0;
    bool is_granted = false;  ///< the receiver has sent its first grant
    bool is_over = false;
    int slots = 0;  ///< messages under way at once; one fewer after each end of grants
  };

  bool crosses(int peer) const { return ranks_.host(peer) != ranks_.host(); }
  int grant_tag() const { return first_tag_; }
  int data_tag() const { return first_tag_ + 1; }

  // All of these require: the mutex is held.

  void send(int to, int tag, std::span<const std::byte> data) {
    ++sending_;
    ranks_.send(to, tag, data, [self = shared_from_this()] {
      const std::lock_guard lock(self->mutex_);
      --self->sending_;
    });
  }

  void send_grant(int to, bool more) { send(to, grant_tag(), std::span(kGrant).first(more ? 1 : 0)); }

  /// Grants the first messages of the next round. After stop() ends all rounds that are left.
  void begin_round() {
    for (; in_round_ < in_.size(); ++in_round_) {
      In& in = in_[in_round_];
      if (!crosses(in.from)) continue;
      send_first_grant(in);
      if (in.granted > 0) return;
    }
  }

  void send_first_grant(In& in) {
    if (!stopped_) {
      in.granted = plan_.window();
      for (int slot = 0; slot < in.granted; ++slot) post_data(in, slot);
    }
    send_grant(in.from, !stopped_);
  }

  void post_data(const In& in, int slot) {
    const auto offset = static_cast<std::size_t>(slot) * ProbePlan::kMessageBytes;
    ranks_.receive(in.from, data_tag(), std::span(in_data_).subspan(offset, ProbePlan::kMessageBytes),
                   [self = shared_from_this(), slot](std::size_t bytes) { self->on_data(slot, bytes); });
  }

  void on_data(int slot, std::size_t bytes) {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    In& in = in_[in_round_];
    if (bytes != ProbePlan::kMessageBytes) {
      ranks_.fail(io::Error("receive", fmt::format("a message from rank {} ({})", in.from, ranks_.host(in.from)),
                            fmt::format("corrupt message: it measures links and has {} bytes", bytes))
                      .what());
      return;
    }
    if (in.arrived++ == 0) in.first = now;
    in.last = now;
    const bool more = !stopped_ && in.granted < plan_.messages;
    if (more) {
      ++in.granted;
      post_data(in, slot);
    }
    send_grant(in.from, more);
    if (in.arrived < in.granted) return;
    ++in_round_;
    begin_round();
  }

  void on_first_grant(std::size_t round, bool granted) {
    const std::lock_guard lock(mutex_);
    out_[round].is_granted = granted;
    out_[round].is_over = !granted;
    serve();
  }

  /// Serves the receivers in the order of the rounds, one at a time.
  void serve() {
    while (out_round_ < out_.size() && out_[out_round_].is_over) ++out_round_;
    if (out_round_ == out_.size()) return;
    Out& out = out_[out_round_];
    if (!out.is_granted || out.slots > 0) return;
    out.slots = plan_.window();
    for (int slot = 0; slot < out.slots; ++slot) post_grant(out, slot);
    for (int slot = 0; slot < out.slots; ++slot) send(out.to, data_tag(), out_data_);
  }

  void post_grant(const Out& out, int slot) {
    ranks_.receive(out.to, grant_tag(), std::span(grants_).subspan(out_.size() + static_cast<std::size_t>(slot), 1),
                   [self = shared_from_this(), slot](std::size_t bytes) { self->on_grant(slot, bytes > 0); });
  }

  void on_grant(int slot, bool granted) {
    const std::lock_guard lock(mutex_);
    Out& out = out_[out_round_];
    if (granted) {
      post_grant(out, slot);
      send(out.to, data_tag(), out_data_);
    } else if (--out.slots == 0) {
      out.is_over = true;
      serve();
    }
  }

  const ProbePlan plan_;
  comm::Communicator& ranks_;
  const int first_tag_;
  const std::vector<std::byte> out_data_;
  std::vector<std::byte> grants_;   // the first of each round, and one for each slot; only their sizes matter
  std::vector<std::byte> in_data_;  // a message for each slot of the window
  mutable std::mutex mutex_;        // guards all below
  std::vector<In> in_;
  std::vector<Out> out_;
  std::size_t in_round_ = 0;
  std::size_t out_round_ = 0;
  std::size_t sending_ = 0;
  bool stopped_ = false;
};

LinkProbe::LinkProbe(const ProbePlan& plan, comm::Communicator& ranks)
    : rounds_(std::make_shared<Rounds>(plan, ranks)) {
  rounds_->post();
  ranks.barrier();
  rounds_->start();
}

LinkProbe::~LinkProbe() { stop(); }
std::vector<double> LinkProbe::rates() const { return rounds_->rates(); }
void LinkProbe::stop() { rounds_->stop(); }
bool LinkProbe::is_over() const { return rounds_->is_over(); }

}  // namespace hetsort::sort
