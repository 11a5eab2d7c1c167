// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/shares.h"

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
  return shares;
}

}  // namespace hetsort::sort
