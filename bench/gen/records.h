// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the suites of gen/ share: a piece of records as large as the one a thread works on.
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

/// Time a record and bytes a second stand in the output.
inline void count_records(benchmark::State& state) {
  const auto records = static_cast<double>(state.iterations()) * kRecords;
  state.SetBytesProcessed(static_cast<std::int64_t>(records) * static_cast<std::int64_t>(kRecordBytes));
  state.counters["per_record"] = benchmark::Counter(records, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace hetsort::gen::bench
