// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves as JSON text, "hetsort.curves/1": {"schema","nodes":[{"name","points":[[n,s,count,variance],...]}]}.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "curve.h"

namespace hetsort::partition {

std::string save_curves(std::span<const NodeCurve> curves);

/// Reads curves. Throws: PlanError, naming `source_name`, for anything that save_curves would not write: syntax,
/// another schema, numbers out of range, more than 64 MiB of text.
std::vector<NodeCurve> load_curves(std::string_view text, std::string_view source_name);

}  // namespace hetsort::partition
