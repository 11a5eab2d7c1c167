// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The evidence that a sort is right: how many records were written, the fingerprint of their multiset, and whether they
// were in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "order/key_prefix.h"
#include "order/line_buffer.h"

namespace hetsort::order {

/// A multiset of records in two numbers. Equal multisets have equal digests; different ones differ but for a chance of
/// 2^-64. Adding is commutative.
struct MultisetDigest {
  std::uint64_t records = 0;
  std::uint64_t fingerprint = 0;  ///< sum of XXH3-64 over the records, modulo 2^64

  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  /// Adds `bytes` bytes of whole records. Returns how many records or lines these are.
  std::uint64_t add(const RecordLayout& layout, const std::byte* first, std::size_t bytes);
  MultisetDigest& operator+=(const MultisetDigest& other);
  bool operator==(const MultisetDigest&) const = default;
};

/// The public validator's checksum: the sum of the records' CRC-32, printed as it prints it.
class ChecksumSum {
 public:
  void add(const std::byte* first, std::size_t count, std::size_t record_bytes);
  ChecksumSum& operator+=(const ChecksumSum& other);
  /// The sum as lower-case hexadecimal digits without leading zeros.
  std::string text() const;

 private:
  __extension__ unsigned __int128 sum_ = 0;
};

/// Records are copied and verified in batches of this many bytes, which stay in the first-level cache.
inline constexpr std::size_t kVerifyBatchBytes = std::size_t{24} << 10;

/// Checks the order of records and computes their digest as they are written, while they are in cache.
class OrderVerifier {
 public:
  /// With `checksum` it also computes the public checksum, which costs several times as much as everything else.
  explicit OrderVerifier(const RecordLayout& layout, bool checksum = false)
      : layout_(layout), checksum_wanted_(checksum) {}

  /// Adds the `count` records from `first` on, which follow those seen so far. If records are lines, `count` is any
  /// number of bytes. Requires: kReadableSlackBytes readable bytes behind the last record.
  void inspect(const std::byte* first, std::size_t count);
  /// Continues with `next`, which has inspected the records that follow directly.
  void append(OrderVerifier next);

  /// From now on lines with equal keys count as disorder, too.
  void forbid_equal_keys() { least_step_ = 1; }

  /// Keeps no copy of the first line. Requires: nothing is appended to this object, or this object to another one, and
  /// state() is not called.
  void keep_no_first_line() { keeps_first_line_ = false; }
  /// The number of bytes of a line whose end was not seen yet, and the last whole line. Both are kept.
  std::size_t begun_line_bytes() const { return begun_line_.size(); }
  std::span<const std::byte> last_line() const { return last_line_.bytes(); }
  /// Bytes of all whole lines so far.
  std::uint64_t whole_line_bytes() const { return whole_line_bytes_; }

  const RecordLayout& layout() const { return layout_; }
  /// The bytes that this object and those appended have inspected; not part of the state.
  std::uint64_t bytes() const { return bytes_; }
  const MultisetDigest& digest() const { return digest_; }
  bool in_order() const { return in_order_; }
  /// The place of a record: its number and its first byte, both counted from 0.
  struct RecordPlace {
    std::uint64_t record = 0;
    std::uint64_t byte = 0;
  };
  /// The first record that is below the record before it, among those that this object inspected itself.
  const std::optional<RecordPlace>& first_disorder() const { return first_disorder_; }
  /// Bytes of the longest line that this object inspected itself; 0 of records of fixed size.
  std::uint64_t longest_line() const { return longest_line_; }
  /// Whether both have inspected the same records: the same multiset, both in order, with equal first and last keys.
  bool same_records(const OrderVerifier& other) const;
  /// What append() needs to know of an object on another rank.
  struct State {
    MultisetDigest digest;
    ChecksumSum checksum;
    bool in_order = true;
    std::vector<std::byte>
        first_key{};  ///< normalized key of the first record, or the first line; empty without records
    std::vector<std::byte> last_key{};
  };
  State state() const;
  /// `bytes`: the bytes() of the object that had this state, if anybody asks for them. Throws: std::runtime_error if
  /// the state has keys that the layout does not have.
  OrderVerifier(const RecordLayout& layout, State state, std::uint64_t bytes = 0);
  const ChecksumSum& checksum() const { return checksum_; }

 private:
  bool ascending(const std::byte* first, std::size_t count) const;
  void inspect_lines(const std::byte* first, std::size_t bytes);
  std::span<const std::byte> inspect_whole_lines(std::span<const std::byte> lines);
  std::span<const std::byte> last_key() const { return layout_.is_lines() ? last_line_.bytes() : last_key_; }
  void note_order(int order);
  RecordPlace find_disorder(const std::byte* first, std::span<const std::byte> key_before) const;

  RecordLayout layout_;
  MultisetDigest digest_;
  std::uint64_t bytes_ = 0;
  bool checksum_wanted_ = false;
  ChecksumSum checksum_;
  bool in_order_ = true;
  std::optional<RecordPlace> first_disorder_;
  int least_step_ = 0;                  // 1 if the key of a line must be above the key before it
  std::uint64_t whole_line_bytes_ = 0;  // bytes of the lines in digest_
  std::uint64_t longest_line_ = 0;
  std::vector<std::byte> room_;       // room for a normalized key
  std::vector<std::byte> first_key_;  // the whole first line, if records are lines
  std::vector<std::byte> last_key_;   // empty if records are lines
  LineBuffer last_line_;
  LineBuffer begun_line_;  // bytes of a line whose end was not seen yet
  bool keeps_first_line_ = true;
};

}  // namespace hetsort::order
