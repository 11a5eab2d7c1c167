// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The proof of a sort: how many records passed, the fingerprint of their multiset, and whether they came in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sort/record_layout.h"

namespace hetsort::sort {

/// A multiset of records in two numbers. Equal multisets have equal tallies; different ones differ but for a chance of
/// 2^-64. Adding is commutative.
struct Tally {
  std::uint64_t records = 0;
  std::uint64_t fingerprint = 0;  ///< sum of XXH3-64 over the records, modulo 2^64

  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

/// The public validator's checksum: the sum of the records' CRC-32, as it prints it.
class ChecksumSum {
 public:
  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  ChecksumSum& operator+=(const ChecksumSum& other);
  /// Lower-case hexadecimal digits without leading zeros.
  std::string text() const;

 private:
  friend class OrderAudit;
  __extension__ unsigned __int128 sum_ = 0;
};

/// Of records, moved before they are audited: the first-level cache still holds them then.
inline constexpr std::size_t kAuditBatchBytes = std::size_t{24} << 10;

/// Looks at records in the order in which they are written, while they are in cache.
class OrderAudit {
 public:
  /// With `checksum` the public checksum is taken too, at several times the cost of all else.
  explicit OrderAudit(const RecordLayout& layout, bool checksum = false)
      : layout_(layout), checksum_wanted_(checksum) {}

  /// Requires: kReadableSlackBytes readable bytes behind the last record.
  void inspect(const std::byte* first, std::size_t count);
  /// Takes up where `next`, which looked at the records right behind these, ended.
  void append(const OrderAudit& next);

  const RecordLayout& layout() const { return layout_; }
  const Tally& tally() const { return tally_; }
  bool in_order() const { return in_order_; }
  /// For append() on another rank. Throws (decoding): std::runtime_error when `bytes` is no audit.
  std::vector<std::byte> encode() const;
  static OrderAudit decode(const std::vector<std::byte>& bytes, const RecordLayout& layout);
  const ChecksumSum& checksum() const { return checksum_; }

 private:
  bool ascending(const std::byte* first, std::size_t count) const;

  RecordLayout layout_;
  Tally tally_;
  bool checksum_wanted_;
  ChecksumSum checksum_;
  bool in_order_ = true;
  std::vector<std::byte> first_key_;
  std::vector<std::byte> last_key_;
};

}  // namespace hetsort::sort
