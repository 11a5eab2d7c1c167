// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Cost functions as people write them, as in { kind = "linear", per_record = 1e-6 }. Internal to the library.
#pragma once

#include "partition/cost/cost_function.h"
#include "partition/text/toml_reader.h"

namespace hetsort::partition {

/// Reads a cost function. Throws: TomlError for an unknown kind (listing the known ones), a field that is missing,
/// unknown or out of range.
CostPtr read_cost(const TomlTable& table);

}  // namespace hetsort::partition
