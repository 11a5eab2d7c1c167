// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges files of records. A file of known size is shared out among the threads in pieces of some megabytes, whose
// summaries are joined in order; a stream is read by one thread.
#pragma once

#include <string>
#include <vector>

#include "gen/scanner.h"
#include "gen/summary.h"

namespace hetsort::gen {

struct ValidateOptions {
  RecordShape shape;
  unsigned threads = 0;  ///< 0: as many as processors this process may use
};

/// Judges the files as consecutive partitions of one output, borders included; "-" is standard input. Reads each byte
/// once. Allocates: at most 16 MiB, or two records a thread where that is more, whatever the size of the files.
/// Throws: io::Error for a file that cannot be read, ends inside a record or changes its size meanwhile.
Summary validate_files(const std::vector<std::string>& paths, const ValidateOptions& options);

/// Joins the summaries that the files hold, in order. Throws: io::Error for a file that cannot be read or holds
/// anything but summaries.
Summary join_summary_files(const std::vector<std::string>& paths);

}  // namespace hetsort::gen
