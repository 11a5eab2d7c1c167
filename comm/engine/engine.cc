// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/engine/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <limits>
#include <utility>

namespace hetsort::comm {

namespace {

constexpr std::chrono::hours kLong{1};

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

Engine::Engine() : hosts_{own_host()}, job_start_(Clock::now()), driver_(ExchangeMode::kInline, 1, {}) {
  heartbeat_ = std::make_unique<Heartbeat>(std::vector<int>{}, 0, options_);
}

Engine::Engine(const MakeTransport& make, const CommunicatorOptions& options)
    : options_(options),
      driver_(options.mode, options.heartbeat_seconds,
              {[this] { pulse(); }, [this](const std::string& error) { note_failure(error); },
               [this] {
                 learn({job_nanoseconds(), rank(), "the job was aborted"});
               }},
              options.host_thread) {
  driver_.start(make);
  greet();
  open();
  share_places();
  measure_clock();
  joined_ = true;
}

Engine::~Engine() {
  if (!open_) return;
  if (!outcome_ && !driver_.dead()) {
    try {
      fail("ended without a result");
      conclude();
    } catch (const std::exception&) {
      // The job was aborted meanwhile.
    }
  }
  if (outcome_ && outcome_->empty()) driver_.job_succeeded();
  driver_.stop();
}

int Engine::take_tags(int count) {
  const int max_tag = size() == 1 && !open_ ? std::numeric_limits<int>::max() : driver_.place().max_tag;
  if (count > max_tag - next_tag_) throw std::length_error("messages: the transport has no more tags");
  return std::exchange(next_tag_, next_tag_ + count);
}

void Engine::send(int to, int tag, std::span<const std::byte> data, std::function<void()> done) {
  assert(open_ && to >= 0 && to < size() && tag >= kFirstUserTag);
  // Message has one pointer for both directions. A sent message is only read.
  auto* bytes = const_cast<std::byte*>(data.data());
  driver_.submit(Direction::kOut,
                 {to, tag, bytes, data.size(), [done = std::move(done)](std::size_t) { done(); }, false, true});
}

void Engine::receive(int from, int tag, std::span<std::byte> into, std::function<void(std::size_t bytes)> done) {
  assert(open_ && from >= 0 && from < size() && tag >= kFirstUserTag);
  driver_.submit(Direction::kIn, {from, tag, into.data(), into.size(), std::move(done), false, true});
}

void Engine::check() {
  if (failure_.any()) throw PeerFailed(failure_text(failure_.first()));
}

std::string Engine::name_of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  const bool known = index < hosts_.size() && !hosts_[index].empty();
  return known ? fmt::format("rank {} ({})", rank, hosts_[index]) : fmt::format("rank {}", rank);
}

std::string Engine::failure_text(const FailureRecord& record) const {
  return size() == 1 ? record.text : fmt::format("{}: {}", name_of(record.rank), record.text);
}

void Engine::await(const std::function<bool()>& ready) {
  bool there = false;
  const auto look = [&] {
    there = ready();
    return there || failure_.any();
  };
  while (!driver_.wait(look, Clock::now() + kLong)) {
  }
  if (!there) check();
}

std::int64_t Engine::job_nanoseconds() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - job_start_).count();
}

}  // namespace hetsort::comm
