// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The benchmark's records, byte for byte those of the public generator 1.5. In: form, key distribution and range of
// record numbers. Out: records. A Generator knows the whole output and fills any part of it, so that threads, processes
// and hosts each make their own.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "gen/format/record_format.h"
#include "gen/format/uint128.h"
#include "gen/key_distribution.h"

namespace hetsort::gen {

class Generator {
 public:
  /// `whole` is the range of the whole output; sorted and reverse keys are spread over it.
  Generator(Form form, KeyDistribution keys, RecordRange whole);

  /// Writes consecutive records from number `first` on until `into` is full. Requires: into.size() is a multiple of
  /// kRecordBytes and the records lie in the whole range. O(records + log first): 3 ns a binary record with its own
  /// key. Thread safety: any.
  void fill(Uint128 first, std::span<std::byte> into) const;

 private:
  Form form_;
  KeyRewriter rewriter_;
};

struct GenerateOptions {
  unsigned threads = 0;   ///< 0: one for each processor this process may use
  bool checksum = false;  ///< also sum the checksums of the records: 3 ns a record
};

/// Receives the records of a range in order, in pieces of whole records. Called by one thread at a time.
using Sink = std::function<void(std::span<const std::byte> records)>;

/// Makes the records of `part`, which lies in the generator's whole range, and passes them to `sink` in order.
/// Returns their checksum if asked for, else 0. Allocates: four 256 KB buffers a thread, whatever the size.
/// Throws: what `sink` throws.
Uint128 generate(const Generator& generator, RecordRange part, const Sink& sink, const GenerateOptions& options);

}  // namespace hetsort::gen
