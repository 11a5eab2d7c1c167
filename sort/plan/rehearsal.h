// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the processor costs of a sort before its first record is read.
//
// In: the layout of the records. Out: the processor time that a thread takes to form a record into a run, and to merge
// and write it.
// Idea: a few thousand random records go through the steps of both phases, in memory: they are copied, their keys are
// taken and sorted, and they are copied in sorted order and once more. Fresh memory is touched as in a sort. The costs
// of two phases differ by a factor that depends on the processor and the size of records, and this factor is what
// counts. Other work on the machine only adds time, so the shortest of a few repetitions counts. Cost: a few
// milliseconds.
#pragma once

#include <cstdint>

#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Processor seconds of one thread for each record.
struct ProcessorCosts {
  double form_seconds = 0;
  double merge_seconds = 0;
};

/// `share`: the records that the rank will sort, about; they bound the number of repetitions. Requires: records, not
/// lines. Allocates: four times 256 KiB. Throws: std::bad_alloc.
ProcessorCosts rehearse(const RecordLayout& layout, std::uint64_t share);

}  // namespace hetsort::sort
