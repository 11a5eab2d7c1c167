// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How ranks begin together: hellos and a verdict (hello.h), then the channels, the clocks and all host names.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "comm/base/deadline.h"
#include "comm/base/identity.h"
#include "comm/base/packing.h"
#include "comm/engine/engine.h"

namespace hetsort::comm {

namespace {

constexpr int kSignalTag = 0;
constexpr int kTreeTag = 2;

Message first_message(int peer, int tag, HelloBytes& bytes, std::function<void()> done) {
  return {peer, tag, bytes.data(), bytes.size(), [done = std::move(done)](std::size_t) { done(); }, true, true};
}

}  // namespace

/// Exchanges a hello and a verdict between rank 0 and each other rank.
void Engine::greet() {
  job_start_ = driver_.place().began;
  heartbeat_ = std::make_unique<Heartbeat>(std::vector<int>{}, 0, options_);
  hosts_.resize(static_cast<std::size_t>(size()));
  bells_.resize(hosts_.size());
  hosts_[static_cast<std::size_t>(rank())] = driver_.place().host;
  bells_[static_cast<std::size_t>(rank())] = driver_.bell();
  if (size() == 1) return;
  hellos_.resize(static_cast<std::size_t>(rank() == 0 ? size() : 2));
  hellos_.front() = encode(Hello{options_.identity.value_or(own_identity()), driver_.place().host, driver_.bell()});
  const std::string refused = rank() == 0 ? compare_hellos() : exchange_hello();
  // Wait until the last messages have left, because the error below ends the transport.
  await_first_messages(0, [&] { return driver_.out().own() == 0 ? -1 : rank(); });
  if (!refused.empty()) throw JobMismatch(refused);
}

/// Rank 0's half of greet(): receives all hellos and answers them.
std::string Engine::compare_hellos() {
  std::vector<std::atomic<bool>> arrived(hellos_.size());
  for (int other = 1; other < size(); ++other) {
    const auto index = static_cast<std::size_t>(other);
    driver_.submit(Direction::kIn, first_message(other, kHelloTag, hellos_[index], [&, index] {
                     arrived[index] = true;
                     driver_.notify();
                   }));
  }
  await_first_messages(0, [&] {
    for (std::size_t other = 1; other < arrived.size(); ++other)
      if (!arrived[other]) return static_cast<int>(other);
    return -1;
  });
  std::string refused;
  std::vector<Hello> hellos;
  for (std::size_t other = 0; other < hellos_.size() && refused.empty(); ++other) {
    try {
      hellos.push_back(decode_hello(hellos_[other]));
      hosts_[other] = hellos.back().host;
      if (other > 0) bells_[other] = hellos.back().bell;
    } catch (const std::runtime_error& error) {
      refused = fmt::format("rank {} {}", other, error.what());
    }
  }
  if (refused.empty()) refused = refusal(hellos);
  hellos_.front() = encode(HelloVerdict{hosts_.front(), refused});
  for (int other = 1; other < size(); ++other)
    driver_.submit(Direction::kOut, first_message(other, kVerdictTag, hellos_.front(), [this] { driver_.notify(); }));
  return refused;
}

/// The other ranks' half of greet(): sends the hello and receives the verdict.
std::string Engine::exchange_hello() {
  std::atomic<bool> arrived{false};
  driver_.submit(Direction::kIn, first_message(0, kVerdictTag, hellos_.back(), [&] {
                   arrived = true;
                   driver_.notify();
                 }));
  driver_.submit(Direction::kOut, first_message(0, kHelloTag, hellos_.front(), [this] { driver_.notify(); }));
  await_first_messages(turn_seconds(rank()), [&] { return arrived ? -1 : 0; });
  try {
    const HelloVerdict verdict = decode_verdict(hellos_.back());
    hosts_.front() = verdict.host;
    return verdict.refusal;
  } catch (const std::runtime_error& error) {
    abort_with(fmt::format("{}: rank 0 {}", name_of(rank()), error.what()));
  }
}

/// Waits until missing_rank() is negative. Aborts the job after --stall-timeout and the start allowance, naming the
/// rank that is missing. Counts steps, so that time in which this process was stopped does not count.
void Engine::await_first_messages(double patience_seconds, const std::function<int()>& missing_rank) {
  const double limit = options_.stall_timeout_seconds + options_.start_allowance_seconds + patience_seconds;
  // Whatever a rank waits for wakes it.
  const double step = std::clamp(limit / 100, 0.02, 0.5);
  for (double waited = 0; waited < limit; waited += step) {
    const auto done = [&] { return missing_rank() < 0 || driver_.dead() || failure_.any(); };
    const std::chrono::duration<double> pause(step);
    if (!driver_.wait(done, Clock::now() + std::chrono::duration_cast<Clock::duration>(pause))) continue;
    if (missing_rank() < 0) return;
    if (!driver_.dead()) abort_with(failure_text(failure_.first()));
    check();
  }
  report_silence({missing_rank(), limit, {}});
  abort_with({});
}

void Engine::open() {
  for (const int peer : tree_peers()) tree_[peer];
  std::vector<int> others;
  for (int other = 1; rank() == 0 && other < size(); ++other) others.push_back(other);
  if (rank() != 0) others.push_back(0);
  // If rank 0 is silent all others notice it. A silent tree peer is reported only if rank 0 has not reported it.
  heartbeat_ = std::make_unique<Heartbeat>(others, rank() - 1, options_);
  tree_heartbeat_ = std::make_unique<Heartbeat>(tree_peers(), rank() + 1, options_);
  const auto submit = [this](Direction direction, Message message) { driver_.submit(direction, std::move(message)); };
  const auto fault = [this](int from, const std::string& what, bool is_last) {
    if (is_last || !joined_) is_cut_off_ = true;
    note_failure(fmt::format("a control message from {} {}", name_of(from), what));
  };
  signals_ = std::make_unique<Channel>(
      kSignalTag, false, submit,
      Channel::Handlers{[this](int from, const Bytes& message) { on_signal(from, message); }, fault});
  tree_channel_ = std::make_unique<Channel>(
      kTreeTag, true, submit,
      Channel::Handlers{[this](int from, const Bytes& message) { on_tree_message(from, message); }, fault});
  signals_->open(others);
  tree_channel_->open(tree_peers());
  open_ = true;
}

/// Measures the job's start on this rank's clock. Rank 0's driver answers, whatever rank 0 itself does.
void Engine::measure_clock() {
  constexpr int kRoundTrips = 8;
  if (rank() == 0) return;
  auto min_round_trip = Clock::duration::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto asked = Clock::now();
    signal(0, Signal::kAskClock, {});
    await_all([&] { return !clock_answers_.empty(); });
    const std::lock_guard lock(driver_.mutex());
    const ClockAnswer answer = clock_answers_.front();
    clock_answers_.pop_front();
    if (answer.arrived - asked >= min_round_trip) continue;
    min_round_trip = answer.arrived - asked;
    job_start_ = asked + min_round_trip / 2 - std::chrono::nanoseconds(answer.job_nanoseconds);
  }
}

/// Gives all ranks the host and the bell of each.
void Engine::share_places() {
  Packer packer;
  for (const std::string& host : hosts_) packer.text(host);
  packer.values(bells_);
  const Bytes bytes = down(TreeMessage::kJob, packer.take());
  Unpacker unpacker(bytes);
  for (std::string& host : hosts_) host = unpacker.text();
  bells_ = unpacker.values<BellAddress>();
  unpacker.end();
  if (bells_.size() == hosts_.size()) driver_.know_bells(std::move(bells_));
}

}  // namespace hetsort::comm
