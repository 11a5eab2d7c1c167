// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The program file: structure and measured costs of an iterative program, as TOML (docs/io-aware.md describes it).
#pragma once

#include <string_view>

#include "bench/research/mheta/program.h"

namespace hetsort::research {

/// Reads a program file's text; `source_name` stands in the messages.
/// Throws: PlanError with file, line and column for anything that is not the format: syntax, unknown fields and words,
/// unknown variables, missing fields, sections without a stage, more than 1,000 sections, costs that are negative or
/// not finite. Complexity: O(text). Thread safety: pure.
Program parse_program(std::string_view text, std::string_view source_name);

}  // namespace hetsort::research
