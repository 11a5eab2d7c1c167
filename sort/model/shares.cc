// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "comm/base/packing.h"
#include "comm/communicator.h"

namespace hetsort::sort {

namespace {

bool is_division(const std::vector<std::uint64_t>& shares, std::uint64_t records, std::size_t ranks) {
  std::uint64_t left = records;
  for (const std::uint64_t share : shares) {
    if (share > left) return false;
    left -= share;
  }
  return shares.size() == ranks && left == 0;
}

bool is_possible(const std::vector<partition::PhaseTime>& times, std::size_t ranks) {
  return times.size() == ranks && std::ranges::all_of(times, [](const partition::PhaseTime& time) {
           return std::isfinite(time.seconds) &&
                  static_cast<unsigned>(time.bound) <= static_cast<unsigned>(partition::Resource::kSharedDisk);
         });
}

/// Whether a plan of rank 0 fits these ranks and records.
bool is_possible(const Shares& shares, std::uint64_t records, std::size_t ranks) {
  if (!is_division(shares.records, records, ranks) || !std::isfinite(shares.predicted_seconds)) return false;
  if (!shares.input.empty() && !is_division(shares.input, records, ranks)) return false;
  if (shares.run && !(is_possible(shares.run->form, ranks) && is_possible(shares.run->exchange, ranks))) return false;
  const auto is_part = [](std::uint64_t parts) { return parts >= 1; };
  if (!shares.parts.empty() && (shares.parts.size() != ranks || !std::ranges::all_of(shares.parts, is_part)))
    return false;
  std::vector<int> served = shares.order;
  std::ranges::sort(served);
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return served.empty() || served == all;
}

void pack_run(const partition::RunPrediction& run, comm::Packer& packer) {
  packer.value(run.seconds);
  packer.value(run.start_seconds);
  packer.value(run.form_seconds);
  packer.value(run.exchange_seconds);
  packer.values(run.form);
  packer.values(run.exchange);
}

partition::RunPrediction unpack_run(comm::Unpacker& unpacker) {
  partition::RunPrediction run;
  run.seconds = unpacker.value<double>();
  run.start_seconds = unpacker.value<double>();
  run.form_seconds = unpacker.value<double>();
  run.exchange_seconds = unpacker.value<double>();
  run.form = unpacker.values<partition::PhaseTime>();
  run.exchange = unpacker.values<partition::PhaseTime>();
  return run;
}

}  // namespace

Shares plan_on_root(const PlanShares& plan, const RecordsToShare& what, comm::Communicator& ranks) {
  comm::Packer packer;
  Shares shares;
  if (ranks.rank() == 0) {
    shares = plan(what);
    packer.values(shares.records);
    packer.values(shares.input);
    packer.values(shares.order);
    packer.values(shares.parts);
    packer.value(shares.predicted_seconds);
    packer.text(shares.strategy);
    packer.number(shares.run ? 1 : 0);
    if (shares.run) pack_run(*shares.run, packer);
  }
  const comm::Bytes bytes = ranks.broadcast(packer.take());
  comm::Unpacker unpacker(bytes);
  shares.records = unpacker.values<std::uint64_t>();
  shares.input = unpacker.values<std::uint64_t>();
  shares.order = unpacker.values<int>();
  shares.parts = unpacker.values<std::uint64_t>();
  shares.predicted_seconds = unpacker.value<double>();
  shares.strategy = unpacker.text();
  shares.run.reset();
  if (unpacker.number() != 0) shares.run = unpack_run(unpacker);
  unpacker.end();
  // A single rank reads no message, and may plan for a stream before it knows its size.
  if (ranks.size() > 1 && !is_possible(shares, what.records, static_cast<std::size_t>(ranks.size())))
    throw std::runtime_error("the shares from rank 0 do not fit the records and ranks: network or memory changed them");
  return shares;
}

}  // namespace hetsort::sort
