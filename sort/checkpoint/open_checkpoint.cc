// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/open_checkpoint.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "io/field.h"
#include "order/layout_text.h"
#include "sort/failure/request_error.h"
#include "sort/input/rank_path.h"
#include "sort/input/shared_input.h"

namespace hetsort::sort {

namespace {

// Blocks of an input that are compared, besides its size, time and number.
constexpr std::uint64_t kComparedBlocks = 16;

std::string text_of(const InputFile& input) {
  const io::FileStatus status = input.file.status();
  return fmt::format("{} bytes, modified {}, inode {}, fingerprint {:016x}", input.size_bytes,
                     status.modified_nanoseconds, status.inode, sampled_fingerprint(input, kComparedBlocks));
}

std::string text_of(const io::HeaderRule& header) {
  std::string text = fmt::format("{} bytes, {} lines", header.bytes, header.lines);
  if (header.comment) text += fmt::format(", comments {:02x}", static_cast<unsigned char>(*header.comment));
  return text;
}

/// Adds the parts of the ranks that earlier jobs had, if these were more or fewer than now. Collective.
void add_other_parts(const std::vector<std::string>& folders, comm::Communicator& ranks, Checkpoint& checkpoint) {
  if (ranks.all_reduce_max(checkpoint.had_other_ranks() ? 1 : 0) == 0) return;
  const auto most = static_cast<int>(ranks.all_reduce_max(static_cast<std::uint64_t>(checkpoint.most_ranks())));
  for (int rank = 0; rank < std::max(most, ranks.size()); ++rank) {
    std::vector<std::string> of_rank = folders;
    if (ranks.launched())
      for (std::string& folder : of_rank) folder = path_of_rank(std::move(folder), rank);
    if (rank != ranks.rank()) checkpoint.add_part_of(rank, of_rank);
  }
}

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const SortOptions& options, const Input& input, comm::Communicator& ranks) {
  const CheckpointOptions& asked = options.checkpoint;
  if (asked.folders.empty()) return nullptr;
  if (options.input.root_only || input.is_stream())
    throw RequestError(
        fmt::format("{} needs INPUTs of known size that the ranks read themselves: a stream cannot be "
                    "read again",
                    io::field("checkpoint")));
  std::vector<SortFact> facts{{"the layout of records", order::layout_text(options.layout)},
                              {"the header of INPUTs", text_of(options.input.header)}};
  const bool has_own = ranks.launched() && std::ranges::any_of(options.input.paths, is_rank_path);
  if (has_own) facts.push_back({"the number of ranks", std::to_string(ranks.size())});
  for (const InputFile& file : input.files()) facts.push_back({"INPUT " + file.file.name(), text_of(file)});
  std::vector<SortFact> about{
      {"begun", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC on {}", fmt::gmtime(std::time(nullptr)), ranks.host())},
      {"output", fmt::format("{}", fmt::join(options.output.paths, ", "))}};
  const CheckpointPlace place{rank_paths(asked.folders, ranks), ranks.rank(), asked.restart,
                              options.layout.record_bytes, ranks.size()};
  auto checkpoint = std::make_unique<Checkpoint>(place, std::move(facts), std::move(about));
  if (!has_own) add_other_parts(asked.folders, ranks, *checkpoint);
  return checkpoint;
}

}  // namespace hetsort::sort
