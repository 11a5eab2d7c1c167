// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports of runs that never were, for the tests of `hetsort report`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hetsort::cli::test {

using Json = nlohmann::ordered_json;

constexpr int kSamplePhases = 3;

/// A rank that begins at 0 and finishes at `finish`, in kSamplePhases phases.
inline Json sample_rank(int rank, const std::string& host, double finish) {
  return {{"rank", rank},
          {"host", host},
          {"threads", 2},
          {"planned_input_records", 1000},
          {"planned_output_records", 1000 + rank},
          {"input_records", 1000},
          {"output_records", 1000},
          {"runs", 1},
          {"bytes_read", 100'000'000},
          {"bytes_written", 100'000'000},
          {"bytes_spilled", 0},
          {"bytes_sent", 50'000'000},
          {"bytes_received", 50'000'000},
          {"memory_limit_bytes", 1'000'000'000},
          {"peak_rss_bytes", 500'000'000},
          {"communication_cpu_seconds", 0.5},
          {"phases", Json::array({{{"name", "form_runs"}, {"begin", 0.0}, {"end", finish / 2}},
                                  {{"name", "exchange"}, {"begin", finish / 2}, {"end", finish / 2}},
                                  {{"name", "merge_runs"}, {"begin", finish / 2}, {"end", finish}}})}};
}

/// A run in which rank r takes `seconds` - r / 10.
inline Json sample_run(const std::string& strategy, const std::vector<std::string>& hosts, double seconds) {
  Json run{{"schema", "hetsort.run/1"},
           {"records", 1000 * hosts.size()},
           {"bytes", 100'000 * hosts.size()},
           {"fingerprint", "0123456789abcdef"},
           {"seconds", seconds},
           {"strategy", strategy},
           {"exchange", "thread"},
           {"predicted_seconds", seconds * 1.1}};
  Json& ranks = run["ranks"] = Json::array();
  for (std::size_t i = 0; i < hosts.size(); ++i)
    ranks.push_back(sample_rank(static_cast<int>(i), hosts[i], seconds - 0.1 * static_cast<double>(i)));
  run["context"] = {{"hetsort", "0.1.0"},
                    {"command", {"hetsort", "sort", "in"}},
                    {"date", "2025-01-01T00:00:00Z"},
                    {"processor", "One & Only <4>"},
                    {"in_memory", true}};
  return run;
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace hetsort::cli::test
