// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "comm/bytes.h"
#include "comm/communicator.h"

namespace hetsort::sort {

namespace {

template <class Value>
void append_all(comm::Bytes& bytes, const std::vector<Value>& values) {
  comm::append_value(bytes, values.size());
  comm::append(bytes, values.data(), values.size() * sizeof(Value));
}

/// The values at `offset`, which moves behind them.
template <class Value>
std::vector<Value> all_at(const comm::Bytes& bytes, std::size_t& offset) {
  std::vector<Value> values(comm::value_at<std::size_t>(bytes, offset));
  offset += sizeof(std::size_t);
  for (Value& value : values) {
    value = comm::value_at<Value>(bytes, offset);
    offset += sizeof(Value);
  }
  return values;
}

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
  comm::Bytes told;
  if (ranks.rank() == 0) {
    const Shares shares = plan(records);
    append_all(told, shares.records);
    append_all(told, shares.order);
    append_all(told, shares.parts);
    comm::append_value(told, shares.predicted_seconds);
    comm::append(told, shares.strategy.data(), shares.strategy.size());
  }
  told = ranks.broadcast(std::move(told));
  Shares shares;
  std::size_t offset = 0;
  shares.records = all_at<std::uint64_t>(told, offset);
  shares.order = all_at<int>(told, offset);
  shares.parts = all_at<std::uint64_t>(told, offset);
  shares.predicted_seconds = comm::value_at<double>(told, offset);
  shares.strategy = comm::text_from(told, offset + sizeof(double));
  // A single rank reads no message, and may plan for a stream before it knows its size.
  if (ranks.size() > 1 && !is_possible(shares, records, static_cast<std::size_t>(ranks.size())))
    throw std::runtime_error("the shares from rank 0 do not fit the records and ranks: network or memory changed them");
  return shares;
}

}  // namespace hetsort::sort
