// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The evidence that a sort is right: how many records were written, the fingerprint of their multiset, and whether they
// were in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sort/record_layout.h"

namespace hetsort::sort {

/// A multiset of records in two numbers. Equal multisets have equal digests; different ones differ but for a chance of
/// 2^-64. Adding is commutative.
struct MultisetDigest {
  std::uint64_t records = 0;
  std::uint64_t fingerprint = 0;  ///< sum of XXH3-64 over the records, modulo 2^64

  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  MultisetDigest& operator+=(const MultisetDigest& other);
  bool operator==(const MultisetDigest&) const = default;
};

/// The public validator's checksum: the sum of the records' CRC-32, as it prints it.
class ChecksumSum {
 public:
  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  ChecksumSum& operator+=(const ChecksumSum& other);
  /// Lower-case hexadecimal digits without leading zeros.
  std::string text() const;

 private:
  friend class OrderVerifier;
  __extension__ unsigned __int128 sum_ = 0;
};

/// Bytes of records that are copied before they are verified, so that they are still in the first-level cache.
inline constexpr std::size_t kVerifyBatchBytes = std::size_t{24} << 10;

/// Checks the order of records and computes their digest as they are written, while they are in cache.
class OrderVerifier {
 public:
  /// With `checksum` it also computes the public checksum, which costs several times as much as everything else.
  explicit OrderVerifier(const RecordLayout& layout, bool checksum = false)
      : layout_(layout), checksum_wanted_(checksum) {}

  /// Adds the `count` records from `first` on, which follow those seen so far.
  /// Requires: kReadableSlackBytes readable bytes behind the last record.
  void inspect(const std::byte* first, std::size_t count);
  /// Continues with `next`, which has inspected the records that follow directly.
  void append(const OrderVerifier& next);

  const RecordLayout& layout() const { return layout_; }
  const MultisetDigest& digest() const { return digest_; }
  bool in_order() const { return in_order_; }
  /// Whether both have inspected the same records: the same multiset, both in order, with equal first and last keys.
  bool same_records(const OrderVerifier& other) const;
  /// The state as bytes, for append() on another rank. decode() throws std::runtime_error for malformed bytes.
  std::vector<std::byte> encode() const;
  static OrderVerifier decode(const std::vector<std::byte>& bytes, const RecordLayout& layout);
  const ChecksumSum& checksum() const { return checksum_; }

 private:
  bool ascending(const std::byte* first, std::size_t count) const;

  RecordLayout layout_;
  MultisetDigest digest_;
  bool checksum_wanted_;
  ChecksumSum checksum_;
  bool in_order_ = true;
  std::vector<std::byte> room_;  // for a normalized key
  std::vector<std::byte> first_key_;
  std::vector<std::byte> last_key_;
};

}  // namespace hetsort::sort
