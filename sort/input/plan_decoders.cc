// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory for decoding compressed INPUTs. Files show what they need when they are opened, pipes when they are read.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "io/compression/decompress.h"
#include "sort/input/input.h"
#include "sort/input/sorted_inputs.h"

namespace hetsort::sort {

void Input::begin_decoding(InputFile& input) {
  if (!input.decoding && content_.decompress)
    input.decoder_bytes = io::decompress_stream(input.file, decoders_, decoder_memory_);
  input.decoding = true;
}

void Input::look_at_streams(bool all) {
  for (InputFile& input : std::span(files_).first(all ? files_.size() : 1))
    if (input.stream && input.file.is_open() && !input.compressed) begin_decoding(input);
}

std::uint64_t Input::plan_decoders(std::uint64_t memory_bytes, bool together) {
  std::vector<std::uint64_t> needs;
  for (const InputFile& input : files_) needs.push_back(input.decoder_bytes);
  const auto largest = std::ranges::max_element(needs) - needs.begin();
  const std::size_t at_once = together ? std::min(needs.size(), most_open()) : 1;
  std::ranges::nth_element(needs, needs.begin() + static_cast<std::ptrdiff_t>(at_once), std::greater());
  const std::uint64_t needed = std::reduce(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(at_once));
  decoder_memory_->allow(needed);
  io::MemoryToShare memory{memory_bytes};
  // Half of the memory of a merge is for blocks where that is little.
  if (together) memory.least_rest_bytes += 2 * SortedInputs::least_bytes(record_bytes_, at_once);
  return io::memory_beside_decoders(memory, needed, files_[static_cast<std::size_t>(largest)].file.name());
}

}  // namespace hetsort::sort
