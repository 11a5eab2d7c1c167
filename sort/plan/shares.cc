// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "comm/communicator.h"
#include "comm/packing.h"

namespace hetsort::sort {

namespace {

/// Whether a plan of rank 0 can be one for these ranks and records.
bool is_possible(const Shares& shares, std::uint64_t records, std::size_t ranks) {
  if (shares.records.size() != ranks || !std::isfinite(shares.predicted_seconds)) return false;
  std::uint64_t left = records;
  for (const std::uint64_t share : shares.records) {
    if (share > left) return false;
    left -= share;
  }
  const auto is_part = [](std::uint64_t parts) { return parts >= 1; };
  if (!shares.parts.empty() && (shares.parts.size() != ranks || !std::ranges::all_of(shares.parts, is_part)))
    return false;
  std::vector<int> served = shares.order;
  std::ranges::sort(served);
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return left == 0 && (served.empty() || served == all);
}

}  // namespace

Shares plan_on_root(const PlanShares& plan, std::uint64_t records, comm::Communicator& ranks) {
  comm::Packer packer;
  if (ranks.rank() == 0) {
    const Shares shares = plan(records);
    packer.values(shares.records);
    packer.values(shares.order);
    packer.values(shares.parts);
    packer.value(shares.predicted_seconds);
    packer.text(shares.strategy);
  }
  const comm::Bytes bytes = ranks.broadcast(packer.take());
  comm::Unpacker unpacker(bytes);
  Shares shares;
  shares.records = unpacker.values<std::uint64_t>();
  shares.order = unpacker.values<int>();
  shares.parts = unpacker.values<std::uint64_t>();
  shares.predicted_seconds = unpacker.value<double>();
  shares.strategy = unpacker.text();
  unpacker.end();
  // A single rank reads no message, and may plan for a stream before it knows its size.
  if (ranks.size() > 1 && !is_possible(shares, records, static_cast<std::size_t>(ranks.size())))
    throw std::runtime_error("the shares from rank 0 do not fit the records and ranks: network or memory changed them");
  return shares;
}

}  // namespace hetsort::sort
