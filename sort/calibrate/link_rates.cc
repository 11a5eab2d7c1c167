// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/link_rates.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "io/stopwatch.h"
#include "sort/exchange/wait_point.h"

namespace hetsort::sort {

namespace {

constexpr std::uint64_t kFirstBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr int kRoundTrips = 11;

/// Messages between two ranks, one after the other.
class Talk {
 public:
  Talk(comm::Communicator& ranks, int peer, int tag)
      : ranks_(ranks), peer_(peer), tag_(tag), memory_(kMaxBytes), wait_(ranks) {
    ranks_.on_failure([this] { wait_.wake(); });
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  ~Talk() {
    ranks_.on_failure({});
    if (ranks_.failed()) ranks_.drain();
  }

  void send(std::uint64_t bytes) {
    ranks_.send(peer_, tag_, std::span(memory_).first(bytes), [this] { finish(); });
    wait();
  }
  void receive(std::uint64_t bytes) {
    ranks_.receive(peer_, tag_, std::span(memory_).first(bytes), [this](std::size_t) { finish(); });
    wait();
  }
  void say(std::uint64_t word) {
    std::memcpy(memory_.data(), &word, kWordBytes);
    send(kWordBytes);
  }
  std::uint64_t hear() {
    receive(kWordBytes);
    std::uint64_t word = 0;
    std::memcpy(&word, memory_.data(), kWordBytes);
    return word;
  }

 private:
  void finish() {
    const std::lock_guard lock(wait_.mutex());
    done_ = true;
    wait_.notify();
  }
  void wait() {
    wait_.wait_until([this] { return done_; }, progress_of(ranks_));
    done_ = false;
  }

  comm::Communicator& ranks_;
  int peer_;
  int tag_;
  std::vector<std::byte> memory_;
  WaitPoint wait_;
  bool done_ = false;
};

/// Measures from this side; the peer runs answer().
LinkRates ask(Talk& talk, double seconds) {
  constexpr double kLongEnough = 0.1;
  LinkRates rates;
  std::array<double, kRoundTrips> trips{};
  for (double& trip : trips) {
    const io::Stopwatch watch;
    talk.say(0);
    static_cast<void>(talk.hear());
    trip = watch.seconds();
  }
  std::nth_element(trips.begin(), trips.begin() + kRoundTrips / 2, trips.end());
  rates.latency_seconds = trips[kRoundTrips / 2] / 2;
  double took = 0;
  for (std::uint64_t bytes = kFirstBytes; bytes <= kMaxBytes && took < kLongEnough * seconds; bytes *= 2) {
    talk.say(bytes);
    const io::Stopwatch watch;
    talk.send(bytes);
    static_cast<void>(talk.hear());
    took = std::max(watch.seconds() - rates.latency_seconds, 1e-9);
    rates.bytes_per_second = static_cast<double>(bytes) / took;
  }
  talk.say(0);
  return rates;
}

void answer(Talk& talk) {
  for (int trip = 0; trip < kRoundTrips; ++trip) talk.say(talk.hear());
  while (const std::uint64_t bytes = talk.hear()) {
    talk.receive(std::min(bytes, kMaxBytes));
    talk.say(bytes);
  }
}

}  // namespace

LinkRates measure_link(comm::Communicator& ranks, int peer, int tag, double seconds) {
  Talk talk(ranks, peer, tag);
  if (peer < ranks.rank()) answer(talk);
  const LinkRates rates = ask(talk, seconds);
  if (peer > ranks.rank()) answer(talk);
  return rates;
}

int partner_in_round(int rank, int round, int ranks) {
  // A round-robin tournament: one rank keeps its place and the others rotate. With an odd number of ranks, the fixed
  // place is empty.
  const int circle = meeting_rounds(ranks);
  int partner = circle;
  if (rank == circle) {
    // The partner i solves 2 i = round modulo `circle`, which is odd.
    partner = round % 2 == 0 ? round / 2 : (round + circle) / 2;
  } else {
    const int other = ((round - rank) % circle + circle) % circle;
    if (other != rank) partner = other;
  }
  return partner < ranks ? partner : -1;
}

}  // namespace hetsort::sort
