// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/plan/share_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "io/format/numpy.h"
#include "sort/failure/proof_error.h"
#include "sort/input/record_count.h"
#include "sort/model/measured_shares.h"
#include "sort/plan/measure_rates.h"

namespace hetsort::sort {

namespace {

ProbeSize size_of_probe(const PlannedSort& planned) {
  comm::Communicator& ranks = planned.ranks;
  // While rank 0 sends the input, its messages and those of the probe would slow each other down.
  if (!planned.options.shares.output_by_rates || planned.input_kind == InputKind::kRoot ||
      ranks.mode() == comm::ExchangeMode::kInline || ranks.size() == 1)
    return {};
  const auto hosts = static_cast<int>(first_ranks_of_hosts(ranks).size());
  const std::uint64_t bytes = planned.shares.total_records() * planned.options.layout.record_bytes;
  const std::optional<int>& rounds = planned.options.hooks.probe_rounds;
  if (!rounds) return probe_size(bytes, hosts);
  return {hosts > 1 ? *rounds : 0, kSmallProbeBytes, bytes, hosts};
}

void start_disk_probe(PlannedSort& planned) {
  const Output& output = planned.output;
  if (planned.measured.rates.empty() || !planned.options.output.sync || !output.is_staged()) return;
  // A disk that takes runs or that is read meanwhile gets less to do. It seems slower than it is, but such a disk has
  // more to do in the exchange, too.
  constexpr std::uint64_t kIdlePart = 4;
  constexpr std::uint64_t kSpillingPart = 8;
  constexpr std::uint64_t kReadingPart = 32;
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
  const std::uint64_t written = planned.plan.spills ? kSpillingPart : kIdlePart;
  const std::uint64_t part = planned.input.backend() == io::Backend::kBuffered ? written : kReadingPart;
  const std::uint64_t share = planned.shares.records[planned.rank()] * planned.options.layout.record_bytes;
  planned.disk_probe = std::make_unique<WritingProbe>(output.first_volume().folder(), std::min(share / part, kMost));
}

/// Gives each rank the rate of its host's disk: the sum over its ranks, which have written at the same time.
void gather_disk_rates(PlannedSort& planned) {
  const std::vector<ProbeWrites> written =
      planned.ranks.all_gather(planned.disk_probe ? planned.disk_probe->finish() : ProbeWrites{});
  planned.disk_probe.reset();
  const std::vector<double> rates = writing_rates(written);
  MeasuredJob& measured = planned.measured;
  std::vector<double> of_host(rates.size());  // hosts have the numbers from 0
  for (std::size_t rank = 0; rank < rates.size(); ++rank) of_host[measured.host[rank]] += rates[rank];
  for (std::size_t rank = 0; rank < rates.size(); ++rank)
    measured.rates[rank].disk_write = of_host[measured.host[rank]];
  check_rates(measured.rates);
}

/// The shares that follow from the work of all ranks and, if they were measured, from the other rates, which are added
/// to `result`. Collective.
Shares measured_shares(PlannedSort& planned, std::span<const FormedRank> formed, RankResult& result) {
  std::vector<Work> work;
  std::vector<std::uint64_t> read;
  for (const FormedRank& rank : formed) {
    work.push_back(rank.work);
    read.push_back(rank.input_records);
  }
  check_work(work);
  if (planned.claims != nullptr) planned.claims->check_complete(read);
  const std::uint64_t all = planned.shares.total_records();
  if (planned.measured.rates.empty()) return shares_by_rates(all, work);
  gather_disk_rates(planned);
  planned.measured.input = std::move(read);
  MeasuredShares found = shares_by_rates(work, planned.measured);
  if (found.shares.total_records() != all)
    throw ProofError(fmt::format("the ranks have read {} of {} records", found.shares.total_records(), all));
  result.measured = planned.measured;
  result.explanation = std::move(found.explanation);
  result.measured_exchange = std::move(found.exchange);
  if (!result.measured_exchange.empty()) result.predicted_exchange = result.measured_exchange[planned.rank()];
  return std::move(found.shares);
}

/// Whether space is reserved before runs are formed.
bool is_reserved_early(const PlannedSort& planned) {
  return planned.output_size_is_known() && !planned.output.is_stream();
}

}  // namespace

void reserve_output(PlannedSort& planned) {
  if (is_reserved_early(planned)) planned.output.reserve(planned.plan.output_bytes);
}

bool is_worth_measuring(const PlannedSort& planned) { return size_of_probe(planned).rounds > 0; }

void measure(PlannedSort& planned) {
  comm::Communicator& ranks = planned.ranks;
  MeasuredJob& measured = planned.measured;
  measured.rates = ranks.all_gather(measure_rates(size_of_probe(planned), planned.options, ranks));
  measured.record_bytes = planned.options.layout.record_bytes;
  if (planned.claims == nullptr) measured.input_choice = partition::InputChoice::kGiven;
  check_rates(measured.rates);
  std::unordered_map<std::string, std::size_t> numbers;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    measured.names.push_back(ranks.host(rank));
    measured.host.push_back(numbers.emplace(ranks.host(rank), numbers.size()).first->second);
  }
}

void begin_to_form(PlannedSort& planned) {
  start_disk_probe(planned);
  if (planned.claims == nullptr) return;
  const std::uint64_t capacity = planned.capacity_bytes / planned.options.layout.record_bytes;
  planned.claims->start(planned.plan.spills ? kOnDisk : capacity,
                        [&planned](std::span<const std::uint64_t> capacities) {
                          return plan_claims(planned.measured, planned.shares.total_records(), capacities);
                        });
}

void check_read_records(const PlannedSort& planned, const FormedRuns& runs) {
  const std::optional<std::uint64_t>& expected = planned.options.input.expected_records;
  if (!planned.records_are_known() && expected)
    check_record_count(expected, planned.ranks.all_reduce_sum(runs.input.records));
}

SharedOutput share_output(PlannedSort& planned, std::span<const FormedRank> formed, RankResult& result) {
  SharedOutput shared{planned, planned.shares};
  if (planned.options.shares.output_by_rates) shared.shares = measured_shares(planned, formed, result);
  if (planned.size_is_unknown()) shared.shares.records = {formed.front().input_records};
  result.planned_output_records = planned.options.layout.records_in(shared.shares.records[planned.rank()]);
  return shared;
}

ReadyOutput begin_output(PlannedSort& planned, std::uint64_t records) {
  comm::Bytes header;
  if (planned.options.input.header.exists()) header = planned.ranks.broadcast(planned.input.header());
  if (planned.options.input.header.is_numpy()) header = io::renumber_numpy_header(header, records);
  planned.output.set_header_bytes(header.size());
  return {planned.output, header};
}

ReadyOutput place_output(SharedOutput shared) {
  PlannedSort& planned = shared.planned;
  Output& output = planned.output;
  const std::uint64_t record_bytes = planned.options.layout.record_bytes;
  const Shares& shares = shared.shares;
  if (planned.options.input.header.is_common()) output.set_header_bytes(planned.input.header_bytes());
  const std::uint64_t records = planned.output_is_shared ? shares.total_records() : shares.records[planned.rank()];
  if (!output.is_stream() && !is_reserved_early(planned)) output.reserve(records * record_bytes);
  if (!output.is_stream() && planned.output_is_shared)
    output.first_volume().start_at(shares.first_record(planned.rank()) * record_bytes);
  return begin_output(planned, records);
}

ReadyOutput place_output(SharedOutput shared, const ExchangePlan& plan) {
  Output& output = shared.planned.output;
  shared.shares.records = plan.shares;
  const std::uint64_t share_begin = shared.shares.first_record(plan.me) * shared.planned.options.layout.record_bytes;
  const ReadyOutput ready = place_output(std::move(shared));
  // This rank may write ranges of any share, so their places count from the first record of all ranks.
  if (plan.is_dealt) output.first_volume().start_at(0 - share_begin);
  if (!plan.volume_first.empty()) output.cut_at(plan.volume_first);
  return ready;
}

}  // namespace hetsort::sort
