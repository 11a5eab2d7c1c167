// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the written output back from the disk, before it gets its name.
//
// In: the synced output of this rank, and the verifier that inspected it while it was written. Out: nothing, or an
// error if the disk returns other records. Idea: the records are read past the page cache, with direct I/O where the
// file system has it. Their count, fingerprint, order, and first and last key must be those of the records written. All
// ranks have agreed before that the written records are those read from the input, in order across ranks. Cost: one
// read of this rank's output, and as much computation as while it was written. Memory: the staging blocks. Each thread
// reads an equal part of the records; of lines, which are read from their begin, a file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/file.h"
#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

/// A place in the output that holds some of this rank's records.
struct WrittenRange {
  const io::File* file = nullptr;  ///< open for reading; buffered
  std::uint64_t first_byte = 0;
  std::uint64_t bytes = 0;
};

/// Verifies `ranges`, which are all of this rank's records in order. Throws: ProofError naming the files; io::Error.
/// Requires: the files are synced; no other thread uses them, nor the staging memory of `context`.
void verify_output(const OrderVerifier& written, std::span<const WrittenRange> ranges, const RankContext& context);

/// Returns the numbers of the ranges of one file of which the disk returns other records than `written` has inspected:
/// written[i] for ranges[i]. Throws: io::Error. Requires: as verify_output().
std::vector<std::size_t> find_damaged(std::span<const OrderVerifier> written, std::span<const WrittenRange> ranges,
                                      const RankContext& context);

}  // namespace hetsort::sort
