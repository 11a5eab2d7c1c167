// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One sentence about a plan of a whole run, in plain words.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "run_model.h"

namespace hetsort::partition {

/// Whether a plan may choose which ranks read the records.
enum class InputChoice : std::uint8_t { kPlanned, kGiven };

/// Compares the planned run with what a reader would try: the best rank alone and, if some ranks stay without records,
/// all ranks with input by their speed. For example: "fast-1 alone takes 1.24 s; all 4 ranks take 1.60 s, because links
/// bound the exchange". Seconds are those of the model's whole run. Input that is given cannot be elsewhere, so nothing
/// is compared then. Empty for a single rank or no records. Requires: as predict_run(). Complexity: O(ranks^2) for up
/// to 64 ranks; O(ranks) a step for more.
std::string explain_run(const RunModel& model, std::span<const std::int64_t> input,
                        std::span<const std::int64_t> output, InputChoice choice);

}  // namespace hetsort::partition
