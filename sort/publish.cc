// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/publish.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "comm/base/packing.h"
#include "io/stopwatch.h"
#include "sort/failure/proof_error.h"
#include "sort/machine/parallel.h"
#include "sort/output/verify_output.h"

namespace hetsort::sort {

namespace {

comm::Bytes pack(const Written& written) {
  comm::Packer packer;
  packer.value<std::uint64_t>(written.parts().size());
  for (const WrittenPart& part : written.parts()) {
    packer.value(part.first);
    packer.value(part.end);
    const OrderVerifier::State state = part.verifier.state();
    packer.value(state.digest);
    packer.value(state.checksum);
    packer.value(state.in_order);
    packer.values(state.first_key);
    packer.values(state.last_key);
  }
  return packer.take();
}

OrderVerifier unpack_verifier(comm::Unpacker& unpacker, const RecordLayout& layout) {
  OrderVerifier::State state;
  state.digest = unpacker.value<MultisetDigest>();
  state.checksum = unpacker.value<ChecksumSum>();
  state.in_order = unpacker.value<bool>();
  state.first_key = unpacker.values<std::byte>();
  state.last_key = unpacker.values<std::byte>();
  return {layout, std::move(state)};
}

/// Frees the bytes. Throws: std::runtime_error for malformed bytes.
std::vector<WrittenPart> unpack_parts(comm::Bytes bytes, const RecordLayout& layout) {
  const comm::Bytes packed = std::move(bytes);
  comm::Unpacker unpacker(packed);
  std::vector<WrittenPart> parts;
  for (auto left = unpacker.value<std::uint64_t>(); left > 0; --left) {
    const auto first = unpacker.value<std::size_t>();
    const auto end = unpacker.value<std::size_t>();
    parts.push_back({first, end, 0, unpack_verifier(unpacker, layout)});
  }
  unpacker.end();
  return parts;
}

/// Joins the parts of some ranks with those of others. Long lines in them exist once or twice.
Written join_parts(comm::Bytes some, comm::Bytes others, const RecordLayout& layout) {
  std::vector<WrittenPart> parts = unpack_parts(std::move(some), layout);
  std::ranges::move(unpack_parts(std::move(others), layout), std::back_inserter(parts));
  std::ranges::stable_sort(parts, {}, &WrittenPart::first);
  Written joined(layout);
  for (WrittenPart& part : parts) joined.append(std::move(part));
  return joined;
}

/// What all ranks wrote together.
std::vector<WrittenPart> join_all(const Written& written, comm::Communicator& ranks) {
  const RecordLayout& layout = written.layout();
  const auto join = [&layout](comm::Bytes low, comm::Bytes high) {
    return pack(join_parts(std::move(low), std::move(high), layout));
  };
  return unpack_parts(ranks.all_reduce(pack(written), join), layout);
}

/// The places of this rank's records in the output.
std::vector<WrittenRange> places_of(const Written& written, const Output& output) {
  if (output.volumes().size() > 1) return output.ranges(written.bytes());
  const Volume& volume = output.first_volume();
  std::vector<WrittenRange> places;
  for (const WrittenPart& part : written.parts())
    places.push_back({volume.files().buffered, volume.first_byte() + part.first_byte, part.verifier.bytes()});
  return places;
}

/// Throws: ProofError naming `path`.
void check_written(const OrderVerifier& all, const MultisetDigest& read, const std::string& path) {
  const auto [wrote, fingerprint] = all.digest();
  if (read.records != wrote)
    throw ProofError(fmt::format("check {}: {} records read but {} written", path, read.records, wrote));
  if (read.fingerprint != fingerprint)
    throw ProofError(
        fmt::format("check {}: the written records are not the ones read (fingerprint {:016x}, read {:016x})", path,
                    fingerprint, read.fingerprint));
  if (!all.in_order()) throw ProofError(fmt::format("check {}: records are not in order", path));
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

ProvenOutput prove(WrittenOutput written, FormedRuns& runs, const RankContext& context, RankResult& result) {
  comm::Communicator& ranks = *context.ranks;
  Output& output = *written.output;
  result.output = written.records.digest();
  if (result.planned_output_records == 0) result.planned_output_records = result.output.records;
  if (runs.space) result.bytes_spilled = runs.space->taken_bytes();
  // Giving back the temporary space takes the file system a while; the output is synced meanwhile.
  std::jthread release =
      run_in_background([space = std::shared_ptr<io::SpillSpace>(std::move(runs.space))]() mutable { space.reset(); });
  std::array<std::uint64_t, 3> sums{runs.input.records, runs.input.fingerprint, runs.input_bytes};
  ranks.all_reduce_sum(sums);
  std::vector<WrittenPart> joined;  // with one rank it would be a copy, with long lines
  if (ranks.size() > 1) joined = join_all(written.records, ranks);
  const std::vector<WrittenPart>& parts = ranks.size() > 1 ? joined : written.records.parts();
  if (parts.size() != 1)
    throw ProofError(fmt::format("check {}: ranges of the output were written twice or not at all", output.name()));
  const OrderVerifier& all = parts.front().verifier;
  check_written(all, {sums[0], sums[1]}, output.name());
  result.all = all.digest();
  result.all_bytes = sums[2];
  if (context.options->output.checksum) result.checksum = all.checksum().text();
  if (output.filter() != nullptr && context.rank() == 0) result.unique_records = output.filter()->kept_records();
  return {std::move(written), std::move(release)};
}

void publish(const ProvenOutput& proven, const RankContext& context, RankResult& result) {
  Output& output = *proven.written.output;
  if (output.is_memory()) return context.monitor->end_phases();  // the caller has it already, and may still stop
  const Written& written = proven.written.records;
  output.prepare();
  if (context.options->output.verify) {
    const io::Stopwatch watch;
    verify_output(written.joined(), places_of(written, output), context);
    result.verified_bytes = written.bytes();
    result.verify_seconds = watch.seconds();
  }
  // No rank publishes before all ranks ignore requests to stop.
  context.monitor->ignore_stops();
  context.ranks->barrier();
  result.output_untouched = false;
  put_in_place(output, *context.ranks);
  if (output.volumes().size() > 1) result.outputs = volumes_of(output, written.bytes());
  context.monitor->end_phases();
}

}  // namespace hetsort::sort
