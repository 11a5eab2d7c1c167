// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Seeds and sample sizes that all suites share. HETSORT_TEST_SEED sets the seed, HETSORT_TEST_CASES the sample size.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace hetsort::test {

/// Sanitizers slow tests down by a factor of ten: the suites then try fewer cases.
#if defined(HETSORT_SANITIZE)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// ThreadSanitizer is the slowest and needs threads to find anything: still fewer cases.
#if defined(HETSORT_SANITIZE_THREAD)
inline constexpr bool kSeeksRaces = true;
#else
inline constexpr bool kSeeksRaces = false;
#endif

inline std::uint64_t environment_number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// The seed of this run.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = environment_number("HETSORT_TEST_SEED", 20250117);
  return seed;
}

/// The seed of one case of a sampled suite.
inline std::uint64_t case_seed(std::uint64_t number) { return test_seed() * 1'000'003 + number; }

/// The case numbers of a sampled suite: `normal` of them, `sanitized` under a sanitizer, or HETSORT_TEST_CASES.
inline auto cases(std::uint64_t normal, std::uint64_t sanitized) {
  return testing::Range(std::uint64_t{0}, environment_number("HETSORT_TEST_CASES", kSanitized ? sanitized : normal));
}

/// Every `step`th of `all`: every seventh under sanitizers and where HETSORT_TEST_CASES asks for few cases.
template <typename T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t step) {
  const std::uint64_t cases = environment_number("HETSORT_TEST_CASES", 100);
  if (cases > 100) step = 1;
  if (kSanitized || cases < 100) step = 7;
  std::vector<T> some;
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

/// The number of the next call to make fail, after call `n` was made to fail. The first `dense` calls are all tried,
/// later ones in growing steps.
inline std::uint64_t next_call(std::uint64_t n, std::uint64_t dense, std::mt19937_64& random) {
  if (n < dense) return n + 1;
  return n + 1 + (kSanitized ? 15 * n : n) + random() % n;
}

/// Records the seed in the test report and returns a text for SCOPED_TRACE.
inline std::string seed_note() {
  testing::Test::RecordProperty("seed", std::to_string(test_seed()));
  return "HETSORT_TEST_SEED=" + std::to_string(test_seed());
}

}  // namespace hetsort::test
