// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/open_checkpoint.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const SortOptions& options, const Input& input,
                                            const comm::Communicator& ranks) {
  const CheckpointOptions& asked = options.checkpoint;
  if (asked.folders.empty()) return nullptr;
  if (options.input.root_only || input.is_stream())
    throw RequestError(
        fmt::format("{} needs INPUTs of known size that the ranks read themselves: a stream cannot be "
                    "read again",
                    io::field("checkpoint")));
  std::vector<SortFact> facts{{"the layout of records", order::layout_text(options.layout)},
                              {"the header of INPUTs", text_of(options.input.header)},
                              {"the number of ranks", std::to_string(ranks.size())}};
  for (const InputFile& file : input.files()) facts.push_back({"INPUT " + file.file.name(), text_of(file)});
  std::vector<SortFact> about{
      {"begun", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC on {}", fmt::gmtime(std::time(nullptr)), ranks.host())},
      {"output", fmt::format("{}", fmt::join(options.output.paths, ", "))}};
  return std::make_unique<Checkpoint>(
      CheckpointPlace{rank_paths(asked.folders, ranks), ranks.rank(), asked.restart, options.layout.record_bytes},
      std::move(facts), std::move(about));
}

}  // namespace hetsort::sort
