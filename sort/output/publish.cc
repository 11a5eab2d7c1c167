// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/publish.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "io/stopwatch.h"
#include "sort/output/verify_output.h"
#include "sort/parallel.h"
#include "sort/proof_error.h"

namespace hetsort::sort {

WrittenByAll prove(const MultisetDigest& input, const OrderVerifier& written, const std::string& path,
                   comm::Communicator& ranks) {
  std::array<std::uint64_t, 2> sums{input.records, input.fingerprint};
  ranks.all_reduce_sum(sums);
  const auto [read, read_fingerprint] = sums;
  const RecordLayout& layout = written.layout();
  const auto join = [&layout](const comm::Bytes& low, const comm::Bytes& high) {
    OrderVerifier both = OrderVerifier::decode(low, layout);
    both.append(OrderVerifier::decode(high, layout));
    return both.encode();
  };
  std::optional<OrderVerifier> joined;  // of one rank it would be a copy, with long lines
  if (ranks.size() > 1) joined = OrderVerifier::decode(ranks.all_reduce(written.encode(), join), layout);
  const OrderVerifier& all = joined ? *joined : written;
  const auto [wrote, wrote_fingerprint] = all.digest();
  if (read != wrote) throw ProofError(fmt::format("check {}: {} records read but {} written", path, read, wrote));
  if (read_fingerprint != wrote_fingerprint)
    throw ProofError(
        fmt::format("check {}: the written records are not the ones read (fingerprint {:016x}, read {:016x})", path,
                    wrote_fingerprint, read_fingerprint));
  if (!all.in_order()) throw ProofError(fmt::format("check {}: records are not in order", path));
  return {all.digest(), all.checksum()};
}

namespace {

std::uint64_t bytes_of_all(std::uint64_t bytes, comm::Communicator& ranks) {
  std::array<std::uint64_t, 1> sum{bytes};
  ranks.all_reduce_sum(sum);
  return sum[0];
}

std::vector<RankResult::WrittenFile> volumes_of(const Output& output, std::uint64_t bytes) {
  std::vector<RankResult::WrittenFile> files;
  const std::vector<WrittenRange> ranges = output.ranges(bytes);
  files.reserve(ranges.size());
  for (std::size_t volume = 0; volume < ranges.size(); ++volume)
    files.push_back({output.volumes()[volume]->path(), ranges[volume].bytes});
  return files;
}

}  // namespace

void publish(FormedRuns& runs, const OrderVerifier& written, Output& output, const RankContext& context,
             RankResult& result) {
  result.output = written.digest();
  if (context.layout.is_lines()) result.planned_output_records = result.output.records;
  if (runs.space) result.bytes_spilled = runs.space->taken_bytes();
  // Giving back the temporary space takes the file system a while; the output is synced meanwhile.
  const std::jthread release =
      run_in_background([space = std::shared_ptr<io::SpillSpace>(std::move(runs.space))]() mutable { space.reset(); });
  const WrittenByAll all = prove(runs.input, written, output.name(), *context.ranks);
  result.all = all.digest;
  result.all_bytes = bytes_of_all(runs.input_bytes, *context.ranks);
  if (context.checksum) result.checksum = all.checksum.text();
  if (output.filter() != nullptr && context.rank() == 0) result.unique_records = output.filter()->kept_records();
  output.prepare();
  if (context.verify) {
    const io::Stopwatch watch;
    verify_output(written, output.ranges(written.bytes()), context);
    result.verified_bytes = written.bytes();
    result.verify_seconds = watch.seconds();
  }
  // No rank publishes while another one may still be stopped.
  context.monitor->ignore_stops();
  context.ranks->barrier();
  result.output_untouched = false;
  output.publish();
  if (output.volumes().size() > 1) result.outputs = volumes_of(output, written.bytes());
  context.monitor->end_phases();
}

}  // namespace hetsort::sort
