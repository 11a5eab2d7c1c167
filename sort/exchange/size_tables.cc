// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/size_tables.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "io/checksum/checksum.h"
#include "io/error.h"

namespace hetsort::sort {

namespace {

/// The last entry of a table: a checksum of the entries before it. Without it, a rank could wait forever for blocks of
/// a wrong size.
StreamSize checksum_of(std::span<const StreamSize> sizes) {
  return {.records = io::crc32c(std::as_bytes(sizes)), .blocks = sizes.size()};
}

}  // namespace

std::vector<std::vector<StreamSize>> SizeTables::swap(std::vector<std::vector<StreamSize>> sizes_to,
                                                      const std::vector<std::size_t>& sizes_from,
                                                      const Progress& progress) {
  const std::size_t ranks = sizes_from.size();
  const auto me = static_cast<std::size_t>(ranks_.rank());
  received_.resize(ranks);
  sent_ = std::move(sizes_to);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank == me || sizes_from[rank] == 0) continue;
    received_[rank].resize(sizes_from[rank] + 1);
    count_one();
    ranks_.receive(static_cast<int>(rank), tag_, std::as_writable_bytes(std::span(received_[rank])),
                   [this](std::size_t) { one_done(); });
  }
  // A send to a rank that failed before posting its receives would never complete.
  ranks_.barrier();
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank == me || sent_[rank].empty()) continue;
    sent_[rank].push_back(checksum_of(sent_[rank]));
    count_one();
    ranks_.send(static_cast<int>(rank), tag_, std::as_bytes(std::span(sent_[rank])), [this] { one_done(); });
  }
  waiting_.wait_until([this] { return open_ == 0; }, progress);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<StreamSize>& sizes = received_[rank];
    if (sizes.empty()) continue;
    const StreamSize sent = sizes.back();
    sizes.pop_back();
    const StreamSize found = checksum_of(sizes);
    if (sent.records == found.records && sent.blocks == found.blocks) continue;
    const int from = static_cast<int>(rank);
    throw io::Error("receive", fmt::format("sizes of streams from rank {} ({})", from, ranks_.host(from)),
                    "corrupt message: its checksum is wrong: network or memory changed it");
  }
  return std::move(received_);
}

void SizeTables::count_one() {
  const std::lock_guard lock(waiting_.mutex());
  ++open_;
}

void SizeTables::one_done() {
  const std::lock_guard lock(waiting_.mutex());
  if (--open_ == 0) waiting_.notify();
}

}  // namespace hetsort::sort
