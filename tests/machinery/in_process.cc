// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/machinery/in_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "comm/transport/transport.h"

namespace hetsort::machinery {

namespace {

using comm::Bytes;
using comm::Clock;
using Random = std::mt19937_64;

struct Box;

/// A message between its send and its receive.
struct Flight {
  Box* sender = nullptr;  ///< set while the send waits for the receive
  comm::Request send = 0;
  std::span<const std::byte> data;  ///< the sender's memory, or that of `copy`
  Bytes copy;
  Clock::time_point arrives;
  bool corrupt = false;
};

struct Posted {
  comm::Request request = 0;
  std::span<std::byte> into;
};

/// The messages of one (from, tag), in order.
struct Stream {
  std::deque<Flight> flights;
  std::deque<Posted> posted;
};

/// The messages for one rank, and its sends that have completed.
struct Box {
  std::mutex mutex;  // guards the members up to sent_mutex
  std::map<std::pair<int, int>, Stream> streams;
  std::set<std::pair<int, int>> ready;  ///< streams that may have both a message and a receive
  std::vector<comm::Completion> received;
  Random random;
  std::mutex sent_mutex;  // locked last; guards the members below
  std::vector<comm::Completion> sent;
};

struct World {
  InProcessOptions options;
  std::vector<std::unique_ptr<Box>> boxes;
  std::atomic<std::uint64_t> user_messages{0};
  std::atomic<int> aborted{-1};
};

class InProcessTransport : public comm::Transport {
 public:
  InProcessTransport(std::shared_ptr<World> world, int rank, std::uint64_t seed)
      : world_(std::move(world)), rank_(rank), own_(*world_->boxes[static_cast<std::size_t>(rank)]), random_(seed) {}
  ~InProcessTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_->boxes.size()); }
  std::string host() const override { return fmt::format("node{}", rank_ / world_->options.ranks_per_host); }
  int largest_tag() const override { return world_->options.largest_tag; }
  comm::Request send(int to, int tag, std::span<const std::byte> data) override;
  comm::Request receive(int from, int tag, std::span<std::byte> into) override;
  void test_sends(std::vector<comm::Completion>& completed) override;
  void test_receives(std::vector<comm::Completion>& completed) override;
  void cancel(comm::Request receive) override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  Box& box(int rank) { return *world_->boxes[static_cast<std::size_t>(rank)]; }
  void stand_still_if_stopped() const;
  void look_for_abort() const;

  const std::shared_ptr<World> world_;
  const int rank_;
  Box& own_;
  Random random_;  // used by the thread that sends
  comm::Request next_send_ = 1;
  comm::Request next_receive_ = 1;
  std::atomic<std::uint64_t> sends_{0};
};

InProcessTransport::~InProcessTransport() {
  // Messages under way use this rank's memory. Only an abort of the job may leave any.
  std::size_t left = 0;
  for (const auto& each : world_->boxes) {
    const std::lock_guard lock(each->mutex);
    for (auto& [key, stream] : each->streams) {
      left += std::erase_if(stream.flights, [&](const Flight& flight) { return flight.sender == &own_; });
      if (each.get() == &own_) left += std::exchange(stream.posted, {}).size();
    }
  }
  if (left == 0 || world_->aborted >= 0) return;
  fmt::print(stderr, "rank {} ended with {} messages under way\n", rank_, left);
  std::abort();
}

/// Keeps this thread, as SIGSTOP would, until the job is aborted.
void InProcessTransport::stand_still_if_stopped() const {
  const InProcessOptions& options = world_->options;
  while (rank_ == options.stopped_rank && sends_ >= options.stopped_after_sends) {
    look_for_abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void InProcessTransport::look_for_abort() const {
  if (const int code = world_->aborted; code >= 0)
    throw comm::TransportAborted(fmt::format("aborted with exit code {}", code));
}

comm::Request InProcessTransport::send(int to, int tag, std::span<const std::byte> data) {
  look_for_abort();
  stand_still_if_stopped();
  const comm::Request request = next_send_++;
  ++sends_;
  const InProcessOptions& options = world_->options;
  Flight flight;
  flight.send = request;
  flight.data = data;
  const auto delay = options.longest_delay_microseconds <= 0
                         ? 0
                         : static_cast<int>(random_() % static_cast<unsigned>(options.longest_delay_microseconds + 1));
  flight.arrives = Clock::now() + std::chrono::microseconds(delay);
  flight.corrupt = tag >= comm::kFirstUserTag && ++world_->user_messages == options.corrupt_message;
  if (std::uniform_real_distribution<>()(random_) < options.rendezvous) {
    flight.sender = &own_;
  } else {
    flight.copy.assign(data.begin(), data.end());
    flight.data = flight.copy;
    const std::lock_guard lock(own_.sent_mutex);
    own_.sent.push_back({request});
  }
  Box& target = box(to);
  const std::lock_guard lock(target.mutex);
  Stream& stream = target.streams[{rank_, tag}];
  stream.flights.push_back(std::move(flight));
  if (!stream.posted.empty()) target.ready.insert({rank_, tag});
  return request;
}

comm::Request InProcessTransport::receive(int from, int tag, std::span<std::byte> into) {
  look_for_abort();
  const std::lock_guard lock(own_.mutex);
  const comm::Request request = next_receive_++;
  Stream& stream = own_.streams[{from, tag}];
  stream.posted.push_back({request, into});
  if (!stream.flights.empty()) own_.ready.insert({from, tag});
  return request;
}

void InProcessTransport::test_sends(std::vector<comm::Completion>& completed) {
  look_for_abort();
  stand_still_if_stopped();
  const std::lock_guard lock(own_.sent_mutex);
  std::shuffle(own_.sent.begin(), own_.sent.end(), random_);
  completed.insert(completed.end(), own_.sent.begin(), own_.sent.end());
  own_.sent.clear();
}

/// Copies a message to its receiver, and completes the send if it waits for that.
comm::Completion deliver(const Flight& flight, const Posted& posted, Random& random, std::atomic<int>* flipped_bits) {
  comm::Completion completion{posted.request, flight.data.size()};
  if (flight.data.size() > posted.into.size()) {
    completion.end = comm::Completion::End::kTooLong;
  } else {
    std::copy(flight.data.begin(), flight.data.end(), posted.into.begin());
    if (flight.corrupt && !flight.data.empty()) {
      posted.into[random() % flight.data.size()] ^= static_cast<std::byte>(1U << (random() % 8));
      if (flipped_bits != nullptr) ++*flipped_bits;
    }
  }
  if (flight.sender != nullptr) {
    const std::lock_guard lock(flight.sender->sent_mutex);
    flight.sender->sent.push_back({flight.send});
  }
  return completion;
}

void InProcessTransport::test_receives(std::vector<comm::Completion>& completed) {
  if (world_->options.polls != nullptr) ++*world_->options.polls;
  look_for_abort();
  stand_still_if_stopped();
  const auto now = Clock::now();
  const std::lock_guard lock(own_.mutex);
  look_for_abort();
  std::vector<std::pair<int, int>> ready(own_.ready.begin(), own_.ready.end());
  std::shuffle(ready.begin(), ready.end(), own_.random);
  for (const std::pair<int, int>& key : ready) {
    Stream& stream = own_.streams.at(key);
    while (!stream.flights.empty() && !stream.posted.empty() && stream.flights.front().arrives <= now) {
      own_.received.push_back(
          deliver(stream.flights.front(), stream.posted.front(), own_.random, world_->options.flipped_bits));
      stream.flights.pop_front();
      stream.posted.pop_front();
    }
    if (stream.flights.empty() || stream.posted.empty()) own_.ready.erase(key);
    if (stream.flights.empty() && stream.posted.empty()) own_.streams.erase(key);
  }
  completed.insert(completed.end(), own_.received.begin(), own_.received.end());
  own_.received.clear();
}

void InProcessTransport::cancel(comm::Request receive) {
  const std::lock_guard lock(own_.mutex);
  for (auto& [key, stream] : own_.streams) {
    const auto found = std::find_if(stream.posted.begin(), stream.posted.end(),
                                    [&](const Posted& posted) { return posted.request == receive; });
    if (found == stream.posted.end()) continue;
    stream.posted.erase(found);
    if (stream.posted.empty()) own_.ready.erase(key);
    own_.received.push_back({receive, 0, comm::Completion::End::kCancelled});
    return;
  }
}

void InProcessTransport::abort(int exit_code) {
  world_->aborted = exit_code;
  // Deliveries that have begun hold a mutex: after this loop no memory is touched any more.
  for (const auto& each : world_->boxes) const std::lock_guard lock(each->mutex);
  look_for_abort();
  std::terminate();
}

}  // namespace

std::vector<comm::MakeTransport> make_in_process_job(int count, std::uint64_t seed, const InProcessOptions& options) {
  Random random(seed);
  const auto world = std::make_shared<World>();
  world->options = options;
  for (int rank = 0; rank < count; ++rank) {
    world->boxes.push_back(std::make_unique<Box>());
    world->boxes.back()->random.seed(random());
  }
  std::vector<comm::MakeTransport> job;
  job.reserve(world->boxes.size());
  for (int rank = 0; rank < count; ++rank)
    job.emplace_back([world, rank, rank_seed = random()](comm::ExchangeMode) -> std::unique_ptr<comm::Transport> {
      auto transport = std::make_unique<InProcessTransport>(world, rank, rank_seed);
      const MessageFault& fault = world->options.fault;
      return fault.number == 0 ? std::move(transport) : with_fault(std::move(transport), fault);
    });
  return job;
}

}  // namespace hetsort::machinery
