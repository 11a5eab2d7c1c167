// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the suites of gen/: as many records as a thread makes or judges at once.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "gen/generator.h"

namespace hetsort::gen::bench {

inline constexpr std::size_t kRecords = 2560;

inline std::vector<std::byte> piece(const std::string& keys) {
  std::vector<std::byte> records(kRecords * kRecordBytes);
  Generator(Form::kBinary, parse_key_distribution(keys), {0, kRecords}).fill(0, records);
  return records;
}

/// Adds time per record and bytes per second to the output.
inline void count_records(benchmark::State& state) {
  const auto records = static_cast<double>(state.iterations()) * kRecords;
  state.SetBytesProcessed(static_cast<std::int64_t>(records) * static_cast<std::int64_t>(kRecordBytes));
  state.counters["per_record"] = benchmark::Counter(records, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace hetsort::gen::bench
