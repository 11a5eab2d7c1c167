// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/publish.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

OrderVerifier prove(const MultisetDigest& input, const OrderVerifier& written, const std::string& path,
                    comm::Communicator& ranks) {
  std::array<std::uint64_t, 2> sums{input.records, input.fingerprint};
  ranks.all_reduce_sum(sums);
  const auto [read, read_fingerprint] = sums;
  const RecordLayout& layout = written.layout();
  OrderVerifier all =
      OrderVerifier::decode(ranks.all_reduce(written.encode(),
                                             [&layout](const comm::Bytes& low, const comm::Bytes& high) {
                                               OrderVerifier joined = OrderVerifier::decode(low, layout);
                                               joined.append(OrderVerifier::decode(high, layout));
                                               return joined.encode();
                                             }),
                            layout);
  const auto [wrote, wrote_fingerprint] = all.digest();
  if (read != wrote) throw ProofError(fmt::format("check {}: {} records read but {} written", path, read, wrote));
  if (read_fingerprint != wrote_fingerprint)
    throw ProofError(
        fmt::format("check {}: the written records are not the ones read (fingerprint {:016x}, read {:016x})", path,
                    wrote_fingerprint, read_fingerprint));
  if (!all.in_order()) throw ProofError(fmt::format("check {}: records are not in order", path));
  return all;
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

/// The names of what is in place on all ranks, but of no more than some of each. Collective.
std::string names_in_place(const Output& output, comm::Communicator& ranks) {
  constexpr std::size_t kMaxNames = 8;  // of a rank
  std::vector<std::string> names = output.published();
  if (names.size() > kMaxNames) {
    const std::string rest = fmt::format("{} more of rank {}", names.size() - kMaxNames, ranks.rank());
    names.resize(kMaxNames);
    names.push_back(rest);
  }
  std::vector<std::string> found;
  for (std::string& of_rank : ranks.gather_text(fmt::format("{}", fmt::join(names, ", "))))
    if (!of_rank.empty()) found.push_back(std::move(of_rank));
  return ranks.broadcast_text(fmt::format("{}", fmt::join(found, ", ")));
}

/// Puts this rank's files in place. If that fails on some ranks, their messages name the files of all ranks that are
/// new. Collective. Throws: io::Error; PeerFailed.
void put_in_place(Output& output, comm::Communicator& ranks) {
  std::optional<io::Error> failure;
  try {
    output.publish();
  } catch (const io::Error& error) {
    failure = error;
  }
  if (ranks.all_reduce_max(failure ? 1 : 0) == 0) return;
  const std::string names = names_in_place(output, ranks);
  if (failure && !names.empty()) throw io::Error(*failure, fmt::format("in place already: {}", names));
  if (failure) throw io::Error(*failure);
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
  const OrderVerifier all = prove(runs.input, written, output.name(), *context.ranks);
  result.all = all.digest();
  result.all_bytes = bytes_of_all(runs.input_bytes, *context.ranks);
  if (context.checksum) result.checksum = all.checksum().text();
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
  put_in_place(output, *context.ranks);
  if (output.volumes().size() > 1) result.outputs = volumes_of(output, written.bytes());
  context.monitor->end_phases();
}

}  // namespace hetsort::sort
