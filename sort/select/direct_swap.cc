// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/direct_swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "io/checksum/checksum.h"
#include "io/error.h"
#include "sort/failure/report_failure.h"

namespace hetsort::sort {

namespace {

using Checksum = std::uint32_t;

}  // namespace

DirectSwap::DirectSwap(comm::Communicator& ranks, const std::vector<const char*>& rounds)
    : ranks_(ranks),
      first_tag_(ranks.take_tags(static_cast<int>(rounds.size()))),
      waiting_(ranks),
      waking_(ranks, *this) {
  for (const char* const what : rounds) rounds_.push_back({what});
}

DirectSwap::~DirectSwap() { drain_after_failure(ranks_); }

void DirectSwap::expect(std::size_t round, std::size_t from, std::size_t most_bytes) {
  if (from != static_cast<std::size_t>(ranks_.rank()))
    rounds_[round].received[from].resize(most_bytes + sizeof(Checksum));
}

void DirectSwap::begin() {
  for (std::size_t number = 0; number < rounds_.size(); ++number) {
    Round& round = rounds_[number];
    round.open = round.received.size();
    for (auto& received : round.received) {
      comm::Bytes& message = received.second;
      ranks_.receive(static_cast<int>(received.first), first_tag_ + static_cast<int>(number), message,
                     [this, &round, &message](std::size_t bytes) {
                       const std::lock_guard lock(waiting_.mutex());
                       message.resize(bytes);
                       if (--round.open == 0) waiting_.notify();
                     });
    }
  }
  // A send to a rank that failed before posting its receives would never complete.
  ranks_.barrier();
}

void DirectSwap::send(std::size_t round, std::size_t to, const comm::Bytes& message) {
  comm::Packer packer;
  packer.reserve(message.size() + sizeof(Checksum));
  packer.raw(message);
  packer.value(Checksum{io::crc32c(message)});
  const comm::Bytes& kept = sent_[{round, to}] = packer.take();
  {
    const std::lock_guard lock(waiting_.mutex());
    ++leaving_;
  }
  ranks_.send(static_cast<int>(to), first_tag_ + static_cast<int>(round), kept, [this] {
    const std::lock_guard lock(waiting_.mutex());
    if (--leaving_ == 0) waiting_.notify();
  });
}

std::vector<comm::Bytes> DirectSwap::take(std::size_t number) {
  Round& round = rounds_[number];
  waiting_.wait_until([&round] { return round.open == 0; }, progress_of(ranks_));
  std::vector<comm::Bytes> messages(static_cast<std::size_t>(ranks_.size()));
  for (auto& [from, message] : round.received) {
    Checksum checksum = 0;
    const std::size_t bytes = message.size() - std::min(message.size(), sizeof(checksum));
    if (bytes < message.size()) std::memcpy(&checksum, message.data() + bytes, message.size() - bytes);
    if (message.size() < sizeof(checksum) || checksum != io::crc32c(std::span(message).first(bytes))) {
      const int rank = static_cast<int>(from);
      throw io::Error("receive", fmt::format("{} from rank {} ({})", round.what, rank, ranks_.host(rank)),
                      "corrupt message: its checksum is wrong: network or memory changed it");
    }
    message.resize(bytes);
    messages[from] = std::move(message);
  }
  return messages;
}

void DirectSwap::finish() {
  waiting_.wait_until([this] { return leaving_ == 0; }, progress_of(ranks_));
}

}  // namespace hetsort::sort
