// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges files of records. In: paths, and the layout of a record. Out: a summary (order, duplicates, count, checksum).
// Threads take pieces of 4 MiB of a file of known size, whose summaries are joined in order. One thread reads a stream.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gen/scanner.h"
#include "gen/summary.h"
#include "io/format/content.h"
#include "io/format/header.h"

namespace hetsort::gen {

struct ValidateOptions {
  order::RecordLayout layout;
  io::HeaderRule header{};                                     ///< what precedes the records of each file
  io::ContentRules content{.use = io::ContentUse::kValidate};  ///< what is checked behind these
  bool strict = false;                                         ///< records with equal keys are unordered too
  std::optional<std::uint64_t> memory_bytes{};                 ///< memory for decompressing; none = any up to 128 MiB
  unsigned threads = 0;                                        ///< 0: one for each processor this process may use
  std::function<void(std::uint64_t bytes)> on_read{};          ///< is called by several threads after each piece
};

/// Judges the files as consecutive partitions of one output, borders included; "-" is standard input. Reads each byte
/// once. Allocates: at most 16 MiB, or two records a thread where that is more, whatever the size of the files, and
/// what decompressing takes. Throws: io::Error for a file that cannot be read, ends inside a record or changes its size
/// while it is read; io::ContentError for one that options.content refuses.
Summary validate_files(const std::vector<std::string>& paths, const ValidateOptions& options);

/// Joins the summaries in the files, in order. Throws: io::Error for a file that cannot be read or holds anything but
/// summaries.
Summary join_summary_files(const std::vector<std::string>& paths);

}  // namespace hetsort::gen
