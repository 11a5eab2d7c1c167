// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks whether the lines of one input are in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/format/content.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

/// The first line of `path` ("-" = standard input) that is below the line before it; with output.unique also one whose
/// key equals the key before. Lines that are too long for a sort with `memory_bytes` are refused. Throws: io::Error;
/// io::ContentError for an input that `content` refuses. Allocates: a few MiB, and up to half of that memory for long
/// lines.
/// `options`: its layout, its header and `unique` count. Lines of the header count in the place.
std::optional<OrderVerifier::RecordPlace> find_disorder(const std::string& path, const SortOptions& options,
                                                        const io::ContentRules& content, std::uint64_t memory_bytes);

}  // namespace hetsort::sort
