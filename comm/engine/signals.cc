// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Signals between rank 0 and each other rank: signs of life, failures, clocks.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "comm/base/packing.h"
#include "comm/engine/engine.h"

namespace hetsort::comm {

namespace {

/// Bytes of a failure's text in a signal. The whole text follows when the job ends.
constexpr std::size_t kMaxFailureTextBytes = 1024;

}  // namespace

void Engine::signal(int to, Signal kind, const Bytes& body) {
  Packer packer;
  packer.value(kind);
  packer.raw(body);
  signals_->post(to, packer.take());
}

void Engine::on_signal(int from, const Bytes& message) {
  if (message.empty()) {
    heartbeat_->gone(from);
    return driver_.notify();
  }
  Unpacker unpacker(message);
  const auto kind = unpacker.value<Signal>();
  switch (kind) {
    case Signal::kAlive: {
      std::string phase = unpacker.text();
      return heartbeat_->heard(from, std::move(phase), unpacker.value<std::uint64_t>());
    }
    case Signal::kFailed:
      return learn(decode_failure(unpacker.bytes(unpacker.left())));
    case Signal::kAskClock: {
      Packer answer;
      answer.value(job_nanoseconds());
      return signal(from, Signal::kAnswerClock, answer.take());
    }
    case Signal::kAnswerClock: {
      {
        const std::lock_guard lock(driver_.mutex());
        clock_answers_.push_back({Clock::now(), unpacker.value<std::int64_t>()});
      }
      return driver_.notify();
    }
  }
  throw std::runtime_error("a control message of no known kind arrived");
}

void Engine::pulse() {
  if (!open_) return;
  const auto now = Clock::now();
  if (heartbeat_->due(now)) {
    send_signs_of_life();
    send_tree_signs_of_life();
  }
  if (const auto silence = heartbeat_->judge(now)) report_silence(*silence);
  if (const auto silence = tree_heartbeat_->judge(now))
    note_failure(fmt::format("no message from {} for {:.0f} s: the network or MPI is stalled", name_of(silence->rank),
                             silence->seconds));
}

void Engine::send_signs_of_life() {
  Packer body;
  body.text(heartbeat_->phase());
  body.value(heartbeat_->work());
  const Bytes phase = body.take();
  for (int other = rank() == 0 ? 1 : 0; other < (rank() == 0 ? size() : 1); ++other)
    signal(other, Signal::kAlive, phase);
}

void Engine::send_tree_signs_of_life() {
  for (const int peer : tree_peers()) {
    Packer packer;
    packer.value(TreeMessage::kAlive);
    {
      const std::lock_guard lock(driver_.mutex());
      // After a failure this rank waits for the end of the job, and the peer may not know of the failure yet.
      packer.value(std::uint8_t{awaits(peer) && !failure_.any()});
      packer.number(tree_peer(peer).received);
    }
    tree_channel_->post(peer, packer.take());
  }
}

/// The phase travels at once, so that a rank that stalls right after is reported with the right phase.
void Engine::set_phase(const std::string& phase) {
  heartbeat_->set_phase(phase);
  if (!open_) return;
  send_signs_of_life();
  progress();
}

void Engine::learn(const FailureRecord& record) {
  if (!failure_.merge(record)) return;
  driver_.refuse_sends();
  const Bytes bytes = encode(record, kMaxFailureTextBytes);
  if (!open_) {
    // This rank is alone, or not yet in contact with another.
  } else if (rank() == 0) {
    for (int other = 1; other < size(); ++other) signal(other, Signal::kFailed, bytes);
  } else if (record.rank == rank()) {
    signal(0, Signal::kFailed, bytes);
  }
  driver_.notify();
  failure_.wake();
}

}  // namespace hetsort::comm
