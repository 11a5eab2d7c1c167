// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a job ends: together, with one outcome, and with no message that could still touch anybody's memory.
//
// 1. Users' sends end: whoever sends was told that the receive is posted, and all keep their receives until
// 2. ... all agree, up and down the tree, that no send is left. Then receives are cancelled.
// 3. One reduction of the outcomes.
// 4. Goodbyes close the channels: nothing is under way any more when the transport ends.
// After a failure all this must not take long: a rank that hears of it only after some seconds is not waited for.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "comm/deadline.h"
#include "comm/engine.h"

namespace hetsort::comm {

namespace {

/// How long ranks wait for each other after a failure.
constexpr double kPatienceSeconds = 5;
constexpr std::chrono::milliseconds kLook{20};
/// The phase in which an output may have got its name.
constexpr std::string_view kPublishing = "publish";

/// In one piece, whoever else writes.
void say(const std::string& text) {
  const std::string line = fmt::format("hetsort: {}\n", text);
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

void Communicator::Engine::fail(const std::string& message) {
  learn({job_nanoseconds(), rank(), message});
  progress();
}

void Communicator::Engine::await_all(const std::function<bool()>& ready) {
  bool there = false;
  const auto look = [&] {
    there = ready();
    return there || driver_.dead();
  };
  const double patience = std::min(kPatienceSeconds, options_.stall_timeout_seconds) + turn_seconds(rank());
  for (;;) {
    if (driver_.wait(look, Clock::now() + kLook)) break;
    if (!failure_.any()) continue;
    if (!ending_began_) ending_began_ = Clock::now();
    if (std::chrono::duration<double>(Clock::now() - *ending_began_).count() > patience) give_up();
  }
  if (!there) check();
}

void Communicator::Engine::give_up() {
  say(fmt::format("{}{}", failure_text(failure_.first()),
                  heartbeat_->phase() == kPublishing ? "" : "; output untouched"));
  driver_.abort(kErrorExit);
  while (!driver_.wait([&] { return driver_.dead(); }, Clock::now() + kLook)) {
  }
  throw PeerFailed(failure_text(failure_.first()));
}

void Communicator::Engine::report_silence(const Heartbeat::Silence& silence) {
  const std::string where = silence.phase.empty() ? "before any phase" : fmt::format("in phase {}", silence.phase);
  const bool published = silence.phase == kPublishing || heartbeat_->phase() == kPublishing;
  say(fmt::format("rank {} ({}): silent for {:.0f} s {}: stalled or unreachable{}", silence.rank,
                  hosts_[static_cast<std::size_t>(silence.rank)], silence.seconds, where,
                  published ? "" : "; output untouched"));
  driver_.abort(kErrorExit);
}

void Communicator::Engine::settle() {
  if (!open_ || settled_) return;
  if (!failure_.any()) fail("ended early");
  agree_that_sends_are_done();
}

void Communicator::Engine::agree_that_sends_are_done() {
  settled_ = true;
  driver_.refuse_sends();
  await_all([&] { return driver_.out().users() == 0; });
  down(Mail::kJob, up(Mail::kJob, {}, [](const Bytes& low, const Bytes&) { return low; }));
  driver_.drop_receives();
  await_all([&] { return driver_.in().users() == 0; });
}

std::string Communicator::Engine::conclude() {
  if (outcome_) return *outcome_;
  if (!open_) return outcome_.emplace(failure_.first().text);
  // Aborted in the middle of an agreement: what has come so far belongs to no other.
  if (driver_.dead()) return outcome_.emplace(failure_text(failure_.first()));
  if (!settled_) agree_that_sends_are_done();
  constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();
  const auto first = [](const Bytes& low, const Bytes& high) {
    return encode(earlier(decode_failure(low), decode_failure(high)), kWhole);
  };
  const FailureRecord outcome =
      decode_failure(down(Mail::kJob, up(Mail::kJob, encode(failure_.first(), kWhole), first)));
  if (outcome.any()) failure_.merge(outcome);
  mail_->close();
  signals_->close();
  await_all([&] {
    return mail_->all_closed() && signals_->all_closed() && driver_.out().own() == 0 && driver_.in().own() == 0;
  });
  return outcome_.emplace(outcome.any() ? failure_text(outcome) : "");
}

}  // namespace hetsort::comm
