// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/queue/jobs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "partition/error.h"
#include "partition/text/plain_name.h"
#include "partition/text/toml_reader.h"

namespace hetsort::research {
namespace {

constexpr std::size_t kMaxJobs = 10'000;

std::int64_t positive_whole(const partition::TomlTable& table, std::string_view key) {
  const std::int64_t value = table.whole(key);
  if (value < 1) table.fail(key, fmt::format("{} must be at least 1, not {}", key, value));
  return value;
}

SortJob read_job(const partition::TomlTable& table, std::size_t place) {
  table.allow_only({"name", "records", "record_size", "arrival"});
  SortJob job;
  job.name = table.has("name") ? table.text("name") : fmt::format("job{}", place + 1);
  if (job.name.empty() || job.name.find(' ') != std::string::npos || !partition::is_plain_name(job.name))
    table.fail("name", "name must be a word without blanks");
  if (!table.has("records")) table.fail("", "a job needs 'records'");
  job.records = positive_whole(table, "records");
  if (table.has("record_size")) job.record_bytes = positive_whole(table, "record_size");
  job.arrival_seconds = table.number_or("arrival", 0);
  if (!std::isfinite(job.arrival_seconds) || job.arrival_seconds < 0)
    table.fail("arrival", fmt::format("arrival must be finite and at least 0, not {}", job.arrival_seconds));
  return job;
}

}  // namespace

std::vector<SortJob> parse_jobs(std::string_view text, std::string_view source_name) {
  const partition::TomlDocument document(text, source_name);
  const partition::TomlTable root = document.root();
  root.allow_only({"job"});
  std::vector<SortJob> jobs;
  for (const partition::TomlTable& table : root.tables("job")) {
    if (jobs.size() == kMaxJobs) table.fail("", fmt::format("more than {} jobs", kMaxJobs));
    jobs.push_back(read_job(table, jobs.size()));
    const auto same = [&](const SortJob& job) { return job.name == jobs.back().name; };
    if (std::any_of(jobs.begin(), jobs.end() - 1, same))
      table.fail("name", fmt::format("a second job '{}'", jobs.back().name));
  }
  if (jobs.empty()) throw partition::PlanError(fmt::format("{}: there is no [[job]]", source_name));
  return jobs;
}

}  // namespace hetsort::research
