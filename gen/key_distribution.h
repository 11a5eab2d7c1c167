// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys other than the generator's own random ones. Only the key of a record is replaced; its other 90 bytes stay. The
// new key is a function of the record number (and, for sorted and reverse, of the whole output's range), so that any
// part of the output can be made anywhere.
//
// All but skewed keys are "spread" keys: place j of n is the fraction j/n of the key space, f = floor(2^64 j / n):
// binary the eight bytes of f, big-endian, and two zero bytes; ASCII the first ten digits of f / 2^64 in base 95, most
// significant first, digit d as ' ' + d. Different places below 2^64 give different keys in the places' order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gen/format/record_format.h"

namespace hetsort::gen {

class ZipfTable;

using Key = std::array<std::byte, kKeyBytes>;

enum class KeyKind : std::uint8_t {
  kUniform,  ///< the generator's own keys
  kSkewed,   ///< the public generator's -s
  kSorted,   ///< record i of n: place i of n
  kReverse,  ///< record i of n: place n-1-i of n
  kEqual,    ///< place 0 everywhere
  kFew,      ///< place floor(K u / 2^64) of K, u = the upper half of the record's first random number
  kZipf,     ///< one of kZipfKeys keys, the k-th most frequent with probability proportional to k^-S
};

/// How many different keys zipf draws from.
inline constexpr std::uint32_t kZipfKeys = 1U << 20;
inline constexpr double kMaxZipfExponent = 20;

struct KeyDistribution {
  KeyKind kind = KeyKind::kUniform;
  std::uint64_t few_keys = 1;  ///< K of kFew, at least 1
  double zipf_exponent = 1;    ///< S of kZipf, above 0 and at most kMaxZipfExponent
};

/// Reads "uniform", "sorted", "reverse", "equal", "few:K" or "zipf:S".
/// Throws: std::invalid_argument naming the mistake.
KeyDistribution parse_key_distribution(const std::string& text);

/// Replaces keys. Copies share the tables. Allocates: 8 MiB for zipf. Thread safety: any after construction.
class KeyRewriter {
 public:
  /// `whole` is the range of the whole output, to which all rewritten records belong.
  KeyRewriter(Form form, KeyDistribution distribution, RecordRange whole);

  /// Replaces the keys of consecutive records, the first of which has number `first`. O(records), for zipf times the
  /// logarithm of the table.
  void rewrite(Uint128 first, std::span<std::byte> records) const;

 private:
  void skew(Uint128 number, Uint128 x, std::byte* key) const;
  std::uint64_t place(Uint128 number, Uint128 x) const;
  void build_skewed_keys();

  Form form_;
  KeyDistribution distribution_;
  RecordRange whole_;
  std::uint64_t places_ = 1;
  std::shared_ptr<const ZipfTable> zipf_;
  std::vector<Key> skewed_keys_;  ///< the key for each number of significant bits of the record number
};

/// The spread key of place j of n. Requires: j < n.
Key spread_key(Form form, std::uint64_t j, std::uint64_t n);

}  // namespace hetsort::gen
