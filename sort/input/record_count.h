// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The number of records that the user says the input has (--records). It finds streams that end too early: a pipe whose
// writer dies looks as if it were complete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hetsort::sort {

/// Whether `path` ("-" or another name of descriptor 0) is standard input that a launcher may forward: this process
/// has a launcher, and descriptor 0 is no regular file.
bool is_forwarded(const std::string& path);

/// Throws: RequestError if `inputs` (none = standard input) hold a forwarded one and the number of records is not
/// known. A launcher that dies closes the standard input that it forwards, which looks like its end.
void require_record_count(const std::vector<std::string>& inputs, std::optional<std::uint64_t> expected_records);

/// Checks the number of records that were read. Throws: RequestError if another number is expected.
void check_record_count(std::optional<std::uint64_t> expected_records, std::uint64_t records);

}  // namespace hetsort::sort
