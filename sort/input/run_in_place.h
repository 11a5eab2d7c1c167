// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that the input contains: a part of it that is sorted already need not be spilled. It is read again from where it
// lies when runs are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sort/input/input.h"
#include "sort/model/record_order.h"
#include "sort/model/run.h"

namespace hetsort::sort {

struct RunInPlace {
  SpilledRun run;
  MultisetDigest digest;
  std::uint64_t longest_line = 0;  ///< bytes of the longest line; 0 without lines
};

/// The run that `segments` in memory are if they are one part of a file and its records or lines are in order;
/// otherwise nothing. Costs little if they are not, unless the disorder is near the end. `per_block`:
/// records_per_block() of the spill space. The caller sets first_record. Requires: kReadableSlackBytes readable bytes
/// behind the records.
std::optional<RunInPlace> run_in_place(const RecordLayout& layout, const std::byte* memory,
                                       std::span<const Segment> segments, std::uint64_t per_block);

}  // namespace hetsort::sort
