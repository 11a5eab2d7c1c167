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

/// Copies the elements' records into a sink, in order, and verifies them on the way.
/// Cost: one random read a record, hidden by prefetching; one write into staging memory that is in cache.
/// Throws: Stopped when `stop` is set; what the sink throws.
void write_permuted(std::span<const Element> elements, const RecordMemory& memory, RecordSink& sink,
                    OrderVerifier& verifier, const StopFlag& stop);

/// Writes the elements' lines into a sink, as write_permuted() does for records; with `verifier` = null nothing is
/// verified.
void write_lines(std::span<const Element> elements, const RecordMemory& memory, RecordSink& sink,
                 OrderVerifier* verifier, const StopFlag& stop);

/// Copies the elements' records to `to`, in order.
void copy_permuted(std::span<const Element> elements, const RecordMemory& memory, std::byte* to);

}  // namespace hetsort::sort
