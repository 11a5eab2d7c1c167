// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the written output back from the disk, before it gets its name.
//
// In: the synced output of this rank, and the verifier that inspected it while it was written. Out: nothing, or an
// error if the disk returns other records. Idea: the records are read past the page cache, with direct I/O where the
// file system has it. Their count, fingerprint, order, and first and last key must be those of the records written. All
// ranks have agreed before that the written records are those read from the input, in order across ranks. Cost: one
// read of this rank's output, and as much computation as while it was written. Memory: the staging blocks.
#pragma once

#include "io/file.h"
#include "sort/output/order_verifier.h"
#include "sort/rank_context.h"

namespace hetsort::sort {

/// Where this rank's records are in the output.
struct WrittenRange {
  const io::File* file = nullptr;  ///< open for reading; buffered
  std::uint64_t first_byte = 0;
};

/// Throws: ProofError naming the file; io::Error. Requires: the file is synced; no other thread uses it, nor the
/// staging memory of `context`.
void verify_output(const OrderVerifier& written, const WrittenRange& range, const RankContext& context);

}  // namespace hetsort::sort
