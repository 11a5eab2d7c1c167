// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The first step of phase plan_shares: the request is checked, then the output and the inputs are opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "comm/communicator.h"
#include "sort/checkpoint/checkpoint.h"
#include "sort/input/input.h"
#include "sort/model/monitor.h"
#include "sort/model/sort_options.h"
#include "sort/output/output.h"

namespace hetsort::sort {

/// Where the records come from.
enum class InputKind : std::uint8_t {
  kOwn,     ///< each rank's own files
  kShared,  ///< files that all ranks see: each rank takes its planned share of the records
  kRoot,    ///< only rank 0 has the input: it sends the other ranks their shares
};

/// What this rank reads and writes, opened.
struct OpenedSort {
  InputKind input_kind = InputKind::kOwn;
  bool output_is_shared = false;  ///< the output is one file or stream for all ranks
  Output output;
  Input input;
  std::unique_ptr<Checkpoint> checkpoint{};  ///< null = no runs are kept
  /// The part of the memory that decoders and compressors take; the options have the rest.
  std::uint64_t codec_bytes = 0;
};

/// What a sort is opened for.
enum class OpenedFor : std::uint8_t {
  kSort,
  kPlan,  ///< streams are opened again for the sort, so that nothing of them is read
};

/// Checks the request as far as no record needs to be known, and opens its files. Reads no record, except of a stream
/// that rank 0 has to share out, and of CSV files, whose quotes are counted. Keys that are columns get their fields in
/// the layout of `options`, and the memory there is what decoders and compressors leave of it. Collective. Throws:
/// RequestError, io::Error, comm::PeerFailed.
OpenedSort open_sort(SortOptions& options, comm::Communicator& ranks, Monitor& monitor, OpenedFor what);

/// Opens a sort of records that each rank has in memory. `sorted`: the memory that gets this rank's share. Throws:
/// RequestError.
OpenedSort open_memory(const RecordLayout& layout, std::span<const std::byte> records, std::span<std::byte> sorted);

}  // namespace hetsort::sort
