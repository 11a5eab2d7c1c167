// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Summaries of `hetsort validate`: an accepted summary can be written and read again, joined and reported.
#include <algorithm>
#include <cstring>

#include "gen/summary.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

std::string seed_of(const gen::Summary& summary) {
  const auto bytes = gen::encode_summary(summary);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

gen::Summary some_records() {
  gen::Summary summary;
  summary.records = 5;
  summary.duplicates = 1;
  summary.checksum = 12345;
  summary.first_key.assign(gen::kKeyBytes, std::byte{'a'});
  summary.last_key.assign(gen::kKeyBytes, std::byte{'b'});
  std::fill_n(summary.first_record.begin(), gen::kKeyBytes, std::byte{'a'});
  std::fill_n(summary.last_record.begin(), gen::kKeyBytes, std::byte{'b'});
  return summary;
}

}  // namespace

std::vector<std::string> seeds() {
  gen::Summary unordered = some_records();
  unordered.unordered = 2;
  unordered.first_unordered = 3;
  return {seed_of(some_records()), seed_of({}), seed_of(unordered)};
}

std::vector<std::string> words() { return {std::string(8, '\0'), std::string(8, '\xff'), "\x80"}; }

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  std::array<std::byte, gen::kSummaryBytes> bytes{};
  if (size > 0) std::memcpy(bytes.data(), data, std::min(size, bytes.size()));
  const std::optional<gen::Summary> summary = gen::decode_summary(bytes);
  if (!summary) return 0;
  // Unused bytes, and the records of a summary of none, are dropped the first time.
  const auto written = gen::encode_summary(*summary);
  const std::optional<gen::Summary> again = gen::decode_summary(written);
  fuzz::test::require(again && gen::encode_summary(*again) == written, "a summary changes when it is written again");
  gen::Summary twice = *summary;
  twice.append(*summary);
  fuzz::test::require(!twice.report().empty() && !summary->report().empty(), "a summary without a report");
  return 0;
}
