// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How a job ends: all ranks together, with one outcome, and with no message that could still touch a rank's memory.
//
// 1. Users' sends end. A sender knows that the receive is posted, and all ranks keep their receives until step 2.
// 2. All ranks agree, up and down the tree, that no send is left. Then they cancel receives.
// 3. One reduction of the outcomes.
// 4. Goodbyes close the channels. Nothing is under way when the transport ends.
//
// After a failure this must not take long: a rank that does not join within some seconds is not waited for.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "comm/base/deadline.h"
#include "comm/engine/engine.h"

namespace hetsort::comm {

namespace {

/// How long ranks wait for each other after a failure.
constexpr double kPatienceSeconds = 5;
constexpr std::chrono::milliseconds kLook{20};
/// How often ranks look that know of no failure. Whatever they wait for wakes them.
constexpr std::chrono::milliseconds kCalmLook{500};
/// The phase in which an output may have got its name.
constexpr std::string_view kPublishing = "publish";

std::atomic<bool> printed_failure{false};

/// Prints with one write, so that lines of several processes do not mix.
void print_error(const std::string& text) {
  printed_failure = true;
  const std::string line = fmt::format("hetsort: {}\n", text);
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

bool has_printed_failure() noexcept { return printed_failure; }

std::string Engine::untouched_text() const {
  return "; output untouched" + (options_.advice.empty() ? "" : "; " + options_.advice);
}

void Engine::note_failure(const std::string& message, const FailurePlace& place) {
  learn({job_nanoseconds(), rank(), message, place});
}

void Engine::fail(const std::string& message, const FailurePlace& place) {
  // A failure that this rank already knows of came first, and its own may be a consequence. Times do not decide here,
  // because the clocks of two ranks differ by more than the message took.
  if (!failure_.any()) note_failure(message, place);
  progress();
}

void Engine::await_all(const std::function<bool()>& ready) {
  bool there = false;
  bool failed = false;  // whether the last look has seen a failure
  const auto look = [&] {
    there = ready();
    return there || driver_.dead() || (!failed && failure_.any());
  };
  const double patience = std::min(kPatienceSeconds, options_.stall_timeout_seconds) + turn_seconds(rank());
  for (;;) {
    if (driver_.wait(look, Clock::now() + (failed ? kLook : kCalmLook)) && (there || driver_.dead())) break;
    failed = failure_.any();
    if (!failed) continue;
    if (!ending_began_) ending_began_ = Clock::now();
    if (is_cut_off_ || std::chrono::duration<double>(Clock::now() - *ending_began_).count() > patience) give_up();
  }
  if (!there) check();
}

void Engine::give_up() {
  abort_with(
      fmt::format("{}{}", failure_text(failure_.first()), heartbeat_->phase() == kPublishing ? "" : untouched_text()));
}

/// Prints the message and ends the job. Throws if the transport's ranks outlive that.
void Engine::abort_with(const std::string& message) {
  if (!message.empty()) print_error(message);
  driver_.abort(kErrorExit);
  while (!driver_.wait([&] { return driver_.dead(); }, Clock::now() + kLook)) {
  }
  throw PeerFailed(failure_text(failure_.first()));
}

void Engine::report_silence(const Heartbeat::Silence& silence) {
  const std::string where = silence.phase.empty() ? "before any phase" : fmt::format("in phase {}", silence.phase);
  const bool published = silence.phase == kPublishing || heartbeat_->phase() == kPublishing;
  print_error(fmt::format("{}: silent for {:.0f} s {}: stalled or unreachable{}", name_of(silence.rank),
                          silence.seconds, where, published ? "" : untouched_text()));
  driver_.abort(kErrorExit);
}

void Engine::drain() {
  if (!open_ || drained_) return;
  if (!failure_.any()) fail("ended early");
  agree_that_sends_are_done();
}

void Engine::agree_that_sends_are_done() {
  drained_ = true;
  driver_.refuse_sends();
  await_all([&] { return driver_.out().users() == 0; });
  down(TreeMessage::kJob, up(TreeMessage::kJob, {}, [](const Bytes& low, const Bytes&) { return low; }));
  driver_.drop_receives();
  await_all([&] { return driver_.in().users() == 0; });
}

std::string Engine::conclude() {
  if (outcome_) return *outcome_;
  agreed_ = failure_.first();
  if (!open_) return outcome_.emplace(agreed_.text);
  // The job was aborted, perhaps in the middle of an agreement, whose messages would be taken for those of a new one.
  if (driver_.dead()) return outcome_.emplace(failure_text(agreed_));
  if (!drained_) agree_that_sends_are_done();
  constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();
  const auto first = [](const Bytes& low, const Bytes& high) {
    return encode(earlier(decode_failure(low), decode_failure(high)), kWhole);
  };
  agreed_ = decode_failure(down(TreeMessage::kJob, up(TreeMessage::kJob, encode(failure_.first(), kWhole), first)));
  if (agreed_.any()) failure_.merge(agreed_);
  tree_channel_->close();
  signals_->close();
  await_all([&] {
    return tree_channel_->all_closed() && signals_->all_closed() && driver_.out().own() == 0 && driver_.in().own() == 0;
  });
  return outcome_.emplace(agreed_.any() ? failure_text(agreed_) : "");
}

}  // namespace hetsort::comm
