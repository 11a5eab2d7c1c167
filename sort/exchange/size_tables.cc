// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/size_tables.h"

#include <fmt/format.h>

#include <mutex>
#include <span>
#include <utility>

#include "io/checksum/checksum.h"
#include "io/error.h"

namespace hetsort::sort {

namespace {

/// The last entry of a message: a checksum of the entries before it. Without it, a rank could wait forever for blocks
/// of a wrong size.
StreamSize checksum_of(std::span<const StreamSize> sizes) {
  return {.records = io::crc32c(std::as_bytes(sizes)), .blocks = sizes.size()};
}

}  // namespace

/// The rank so many places further than this one. Requires: `places` is at most the number of ranks.
std::size_t SizeTables::rank_at(std::size_t places) const {
  return (static_cast<std::size_t>(ranks_.rank()) + places) % static_cast<std::size_t>(ranks_.size());
}

SizeTables::Tables SizeTables::swap(Tables sizes_to, const Count& count, const Progress& progress) {
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  for (std::size_t step = 1; step < ranks; step *= 2) rounds_.push_back({step});
  for (Round& round : rounds_) post(round, count);
  // A send to a rank that failed before posting its receives would never complete.
  ranks_.barrier();
  // The table with the distance d from its sender to its receiver.
  Tables moving(ranks);
  for (std::size_t distance = 1; distance < ranks; ++distance)
    moving[distance] = std::move(sizes_to[rank_at(distance)]);
  for (Round& round : rounds_) {
    send(round, moving);
    take(round, count, progress, moving);
  }
  waiting_.wait_until([this] { return leaving_ == 0; }, progress);
  Tables sizes_from(ranks);
  for (std::size_t distance = 1; distance < ranks; ++distance)
    sizes_from[rank_at(ranks - distance)] = std::move(moving[distance]);
  return sizes_from;
}

/// Calls visit(distance, size) for the tables that arrive in a round.
template <typename Visit>
void SizeTables::for_each_arriving(const Round& round, const Count& count, const Visit& visit) const {
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  for (std::size_t distance = round.step; distance < ranks; ++distance) {
    if ((distance & round.step) == 0) continue;
    // The table has made the moves of this round and of those before.
    const std::size_t made = distance & (2 * round.step - 1);
    visit(distance, count(rank_at(ranks - made), rank_at(distance - made)));
  }
}

void SizeTables::post(Round& round, const Count& count) {
  std::size_t sizes = 0;
  for_each_arriving(round, count, [&](std::size_t, std::size_t of_table) { sizes += of_table; });
  round.received.resize(sizes + 1);
  const std::size_t from = rank_at(static_cast<std::size_t>(ranks_.size()) - round.step);
  ranks_.receive(static_cast<int>(from), tag_, std::as_writable_bytes(std::span(round.received)),
                 [this, &round](std::size_t) {
                   const std::lock_guard lock(waiting_.mutex());
                   round.has_come = true;
                   waiting_.notify();
                 });
}

void SizeTables::send(Round& round, const Tables& moving) {
  for (std::size_t distance = round.step; distance < moving.size(); ++distance)
    if ((distance & round.step) != 0)
      round.sent.insert(round.sent.end(), moving[distance].begin(), moving[distance].end());
  round.sent.push_back(checksum_of(round.sent));
  {
    const std::lock_guard lock(waiting_.mutex());
    ++leaving_;
  }
  ranks_.send(static_cast<int>(rank_at(round.step)), tag_, std::as_bytes(std::span(round.sent)), [this] {
    const std::lock_guard lock(waiting_.mutex());
    if (--leaving_ == 0) waiting_.notify();
  });
}

/// Waits for the tables of a round.
void SizeTables::take(Round& round, const Count& count, const Progress& progress, Tables& moving) {
  waiting_.wait_until([&round] { return round.has_come; }, progress);
  const StreamSize sent = round.received.back();
  round.received.pop_back();
  const StreamSize found = checksum_of(round.received);
  if (sent.records != found.records || sent.blocks != found.blocks) {
    const auto from = static_cast<int>(rank_at(static_cast<std::size_t>(ranks_.size()) - round.step));
    throw io::Error("receive", fmt::format("sizes of streams from rank {} ({})", from, ranks_.host(from)),
                    "corrupt message: its checksum is wrong: network or memory changed it");
  }
  auto next = round.received.cbegin();
  for_each_arriving(round, count, [&](std::size_t distance, std::size_t sizes) {
    const auto end = next + static_cast<std::ptrdiff_t>(sizes);
    moving[distance].assign(std::exchange(next, end), end);
  });
  round.received = {};
}

}  // namespace hetsort::sort
