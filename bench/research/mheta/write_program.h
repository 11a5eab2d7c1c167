// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A program as the text of a program file.
#pragma once

#include <string>

#include "bench/research/mheta/program.h"

namespace hetsort::research {

/// The text from which parse_program() reads the program again. Requires: no stage with a cost function; all of kInput
/// side; no variable of Storage::kExcess.
std::string program_text(const Program& program);

}  // namespace hetsort::research
