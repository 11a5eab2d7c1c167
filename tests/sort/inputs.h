// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Records to sort, made from a seed: key distributions that have broken sorters before. HETSORT_TEST_SEED sets the
// seed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "io/transfer/access.h"
#include "order/lines/line_order.h"
#include "sort/model/record_order.h"
#include "tests/seeds.h"

// How test names show parameters.
namespace hetsort::order {  // for PrintTo

inline void PrintTo(const RecordLayout& layout, std::ostream* stream) {
  *stream << layout.record_bytes << "_bytes_key_" << layout.key_offset << "_" << layout.key_bytes;
}

}  // namespace hetsort::order

namespace hetsort::io {  // for PrintTo

inline void PrintTo(Access access, std::ostream* stream) { *stream << name_of(access); }

}  // namespace hetsort::io

namespace hetsort::sort::test {

using hetsort::test::case_seed;
using hetsort::test::cases;
using hetsort::test::environment_number;
using hetsort::test::kSanitized;
using hetsort::test::kSeeksRaces;
using hetsort::test::next_call;
using hetsort::test::seed_note;
using hetsort::test::some_of;
using hetsort::test::test_seed;

/// The layout of plain lines.
inline RecordLayout plain_lines() {
  RecordLayout layout;
  layout.record_bytes = 1;
  layout.lines = std::make_shared<const order::LineOrder>(order::LineOptions{});
  return layout;
}

/// Makes lines of records: the last byte of each becomes its newline.
inline void end_as_lines(std::vector<std::byte>& records, std::size_t record_bytes) {
  for (std::size_t end = record_bytes; end <= records.size(); end += record_bytes) records[end - 1] = std::byte{'\n'};
}

enum class Distribution : std::uint8_t {
  kUniform,
  kSorted,
  kReverse,
  kAllEqual,
  kFewKeys,
  kZipf,
  kOrganPipe,
  kSharedPrefix,  ///< all key bytes but the last three are the same
  kDeepTies,      ///< every key byte is 0 or 1, mostly 0: ties at every depth
  kOneOutlier,    ///< all equal but one smaller key
  kAllOnes,       ///< mostly 0xff.., the largest key there is
  kZeros,         ///< mostly 0x00.., the smallest
  kSlices,        ///< ascending slices, one behind the other
  kSkewed         ///< like the public generator's option -s: half of the records share their first key bytes
};
inline constexpr std::array kDistributions{
    Distribution::kUniform,  Distribution::kSorted,     Distribution::kReverse,   Distribution::kAllEqual,
    Distribution::kFewKeys,  Distribution::kZipf,       Distribution::kOrganPipe, Distribution::kSharedPrefix,
    Distribution::kDeepTies, Distribution::kOneOutlier, Distribution::kAllOnes,   Distribution::kZeros,
    Distribution::kSlices,   Distribution::kSkewed};

inline std::string_view name_of(Distribution distribution) {
  static constexpr std::array<std::string_view, kDistributions.size()> kNames{
      "uniform",       "sorted",    "reverse",     "all_equal", "few_keys", "zipf",   "organ_pipe",
      "shared_prefix", "deep_ties", "one_outlier", "all_ones",  "zeros",    "slices", "skewed"};
  return kNames[static_cast<std::size_t>(distribution)];
}

inline void PrintTo(Distribution distribution, std::ostream* stream) { *stream << name_of(distribution); }

/// Draws from a seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::uint64_t number() { return random_(); }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  template <typename T, std::size_t N>
  T one_of(const std::array<T, N>& values) {
    return values[random_() % N];
  }

 private:
  std::mt19937_64 random_;
};

/// A key of 1 to 100 fields of any type at any place.
inline RecordLayout draw_typed_layout(Dice& dice, std::size_t record_bytes) {
  std::vector<KeyField> fields(dice.one_of<std::size_t>({1, 1, 2, 2, 3, 5, 16, 100}));
  for (KeyField& field : fields) {
    field.kind = dice.one_of({KeyKind::kBytes, KeyKind::kUnsigned, KeyKind::kSigned, KeyKind::kFloat});
    field.bytes = dice.one_of<std::uint16_t>({1, 2, 4, 4, 8, 8, 16});
    if (field.kind == KeyKind::kBytes) field.bytes = dice.one_of<std::uint16_t>({1, 3, 7, 10, 40});
    if (field.kind == KeyKind::kFloat) field.bytes = dice.one_of<std::uint16_t>({2, 4, 8});
    if (field.bytes > record_bytes) {
      field.kind = KeyKind::kUnsigned;
      field.bytes = 1;
    }
    field.offset = static_cast<std::uint32_t>(dice.number() % (record_bytes - field.bytes + 1));
    field.big_endian = dice.number() % 3 == 0;
    field.descending = dice.number() % 3 == 0;
  }
  return order::layout_with_keys(record_bytes, fields);
}

struct InputRequest {
  Distribution distribution{};
  RecordLayout layout;
  std::size_t records = 0;
  std::uint64_t seed = 0;
};

namespace detail {

class RecordMaker {
 public:
  explicit RecordMaker(const InputRequest& request)
      : request_(request), layout_(request.layout), random_(request.seed), outlier_(random_() | 1U) {
    outlier_ %= std::max<std::size_t>(1, request.records);
  }

  std::vector<std::byte> make() {
    std::vector<std::byte> bytes(request_.records * layout_.record_bytes);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t value = random_();
      std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
    }
    for (std::size_t number = 0; number < request_.records; ++number) {
      std::byte* const record = bytes.data() + number * layout_.record_bytes;
      make_key(number, record + layout_.key_offset);
      for (const KeyField& field : layout_.key_fields())
        if (field.kind != KeyKind::kBytes && random_() % 4 == 0) put_special(field, record + field.offset);
    }
    return bytes;
  }

 private:
  /// Writes a number at which orders break: zeros of both signs, infinities, NaNs, limits.
  void put_special(const KeyField& field, std::byte* to) {
    static constexpr std::array<std::uint8_t, 9> kFirst{0, 0x80, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff, 1};
    static constexpr std::array<std::uint8_t, 9> kSecond{0, 0, 0x80, 0x80, 0xf0, 0xf0, 0xff, 0xff, 0};
    const std::size_t which = random_() % kFirst.size();
    std::memset(to, which == 6 || which == 7 ? 0xff : 0, field.bytes);
    to[field.big_endian ? 0 : field.bytes - 1] = std::byte{kFirst[which]};
    if (field.bytes > 1) to[field.big_endian ? 1 : field.bytes - 2] = std::byte{kSecond[which]};
  }
  /// Writes a fraction of 2^64 as the leading key bytes, zeros behind.
  void put(std::byte* key, std::uint64_t value) const {
    std::memset(key, 0, key_bytes());
    for (std::size_t i = 0; i < std::min<std::size_t>(8, key_bytes()); ++i)
      key[i] = static_cast<std::byte>(value >> (56 - 8 * i));
  }
  /// Key number `index` of `count` in ascending order.
  void put_ranked(std::byte* key, std::uint64_t index, std::uint64_t count) const {
    put(key, UINT64_MAX / std::max<std::uint64_t>(1, count) * index);
  }
  /// Fields may overlap, so that keys are longer than the rest of the record.
  std::size_t key_bytes() const { return std::min(layout_.key_bytes, layout_.record_bytes - layout_.key_offset); }
  bool rarely() { return random_() % 16 == 0; }

  void make_key(std::size_t number, std::byte* key) {
    const std::size_t count = request_.records;
    const std::size_t bytes = key_bytes();
    switch (request_.distribution) {
      case Distribution::kUniform:
        return;  // random already
      case Distribution::kSorted:
        return put_ranked(key, number, count);
      case Distribution::kReverse:
        return put_ranked(key, count - 1 - number, count);
      case Distribution::kAllEqual:
        return static_cast<void>(std::memset(key, 0x37, bytes));
      case Distribution::kFewKeys:
        return put_ranked(key, random_() % 5, 5);
      case Distribution::kZipf:
        // The inverse of 1/x: half of the keys are among the first few.
        return put_ranked(key, static_cast<std::uint64_t>(1000.0 / (1.0 + static_cast<double>(random_() % 1000))),
                          1001);
      case Distribution::kOrganPipe:
        return put_ranked(key, std::min(number, count - 1 - number), count);
      case Distribution::kSharedPrefix:
        return static_cast<void>(std::memset(key, 0x5a, bytes - std::min<std::size_t>(3, bytes)));
      case Distribution::kDeepTies:
        for (std::size_t i = 0; i < bytes; ++i) key[i] = rarely() ? std::byte{1} : std::byte{0};
        return;
      case Distribution::kOneOutlier:
        return static_cast<void>(std::memset(key, number == outlier_ ? 0x11 : 0x37, bytes));
      case Distribution::kAllOnes:
        return rarely() ? void() : static_cast<void>(std::memset(key, 0xff, bytes));
      case Distribution::kZeros:
        return rarely() ? void() : static_cast<void>(std::memset(key, 0, bytes));
      case Distribution::kSlices: {
        const std::size_t slice = std::max<std::size_t>(1, count / 7);
        return put_ranked(key, number % slice, slice);
      }
      case Distribution::kSkewed: {
        // By the number of significant bits of the record's number.
        const std::uint64_t hot = (static_cast<std::uint64_t>(std::bit_width(number)) + 1) * 0x9E3779B97F4A7C15U;
        std::memcpy(key, &hot, std::min<std::size_t>(6, bytes));
        return;
      }
    }
  }

  InputRequest request_;
  RecordLayout layout_;
  std::mt19937_64 random_;
  std::size_t outlier_;
};

}  // namespace detail

/// Payloads are random, so records with equal keys differ if they have a payload.
inline std::vector<std::byte> make_records(const InputRequest& request) { return detail::RecordMaker(request).make(); }

/// Returns the records with the readable slack behind them that sort/ asks for.
inline std::vector<std::byte> with_slack(std::vector<std::byte> records) {
  records.resize(records.size() + kReadableSlackBytes);
  return records;
}

}  // namespace hetsort::sort::test
