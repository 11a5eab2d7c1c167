// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies records from wherever they lie, in the order of their elements.
#pragma once

#include <span>

#include "sort/machine/parallel.h"
#include "sort/model/record_order.h"
#include "sort/model/record_sink.h"

namespace hetsort::sort {

/// Records in memory: element places are offsets from `base`.
struct RecordMemory {
  const std::byte* base = nullptr;
  RecordLayout layout;
};

/// Where records are copied to.
struct PermuteTarget {
  RecordSink& sink;
  OrderVerifier* verifier;  ///< verifies the records on the way; null = nothing is verified
  const StopFlag& stop;
};

/// Copies the elements' records into the target's sink, in order.
/// Cost: one random read a record, hidden by prefetching; one write into staging memory that is in cache.
/// Throws: Stopped when the target's flag is set; what the sink throws.
void write_permuted(std::span<const Element> elements, const RecordMemory& memory, const PermuteTarget& target);

/// Copies the elements' records to `to`, in order.
void copy_permuted(std::span<const Element> elements, const RecordMemory& memory, std::byte* to);

}  // namespace hetsort::sort
