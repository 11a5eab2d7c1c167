// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The jobs file: sorts that share a cluster, as TOML (docs/queues.md describes it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hetsort::research {

struct SortJob {
  std::string name;
  std::int64_t records = 0;
  std::int64_t record_bytes = 100;
  double arrival_seconds = 0;
};

/// Reads the text of a jobs file. Throws: PlanError with file, line and column for anything that is not the format, and
/// for more than 10,000 jobs or none.
std::vector<SortJob> parse_jobs(std::string_view text, std::string_view source_name);

}  // namespace hetsort::research
