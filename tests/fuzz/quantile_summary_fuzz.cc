// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Summaries that ranks exchange while splitters are selected. The first byte is the length of keys.
#include <stdexcept>

#include "sort/select/quantile_summary.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

std::string seed_of(const std::vector<sort::OpenRecords>& open, std::size_t key_bytes) {
  const comm::Bytes bytes = sort::encode(open, key_bytes);
  return static_cast<char>(key_bytes) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::vector<std::string> seeds() {
  const sort::QuantileSummary some{4,
                                   {{{"aaa", 1, 0}, 0, 0, true},
                                    {{"abc", 2, 5}, 1, 3, true},
                                    {{"b\xff"
                                      "c",
                                      0, 0},
                                     2,
                                     4,
                                     false}}};
  return {seed_of({{7, true, some}, {11, false, {}}}, 3), seed_of({}, 3),
          seed_of({{0, true, {1, {{{"k", 1, 0}, 0, 0, true}}}}}, 1)};
}

std::vector<std::string> words() {
  return {std::string(8, '\0'), std::string(8, '\xff'), std::string("\1\0\0\0\0\0\0\0", 8)};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::size_t key_bytes = 1 + data[0] % 16U;
  const auto* const first = reinterpret_cast<const std::byte*>(data) + 1;
  const comm::Bytes bytes(first, first + size - 1);
  try {
    const std::vector<sort::OpenRecords> open = sort::decode(bytes, key_bytes);
    for (const sort::OpenRecords& one : open) {
      sort::OpenRecords merged{one.records_before, one.locates_cheaply, sort::merge(one.summary, open.front().summary)};
      merged.summary.thin(3);
      fuzz::test::require(merged.summary.marks.size() <= 5, "thinning leaves too many marks");
      static_cast<void>(sort::decode(sort::encode({merged}, key_bytes), key_bytes));
    }
  } catch (const std::runtime_error&) {
    // The message was refused; also the union of two summaries that cannot be of disjoint records.
  }
  return 0;
}
