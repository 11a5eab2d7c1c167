// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/order_verifier.h"

#include <span>

#include "comm/packing.h"
#include "io/checksum/checksum.h"

namespace hetsort::sort {

void MultisetDigest::add(const std::byte* first, std::size_t count, std::size_t record_bytes) {
  records += count;
  fingerprint += io::fingerprint(std::span(first, count * record_bytes), record_bytes);
}

MultisetDigest& MultisetDigest::operator+=(const MultisetDigest& other) {
  records += other.records;
  fingerprint += other.fingerprint;
  return *this;
}

void ChecksumSum::add(const std::byte* first, std::size_t count, std::size_t record_bytes) {
  for (std::size_t i = 0; i < count; ++i) sum_ += io::crc32({first + i * record_bytes, record_bytes});
}

ChecksumSum& ChecksumSum::operator+=(const ChecksumSum& other) {
  sum_ += other.sum_;
  return *this;
}

std::string ChecksumSum::text() const {
  std::string digits;
  auto rest = sum_;
  do digits += "0123456789abcdef"[static_cast<std::size_t>(rest & 15)];
  while ((rest >>= 4) != 0);
  return {digits.rbegin(), digits.rend()};
}

bool OrderVerifier::ascending(const std::byte* first, std::size_t count) const {
  const RecordLayout& layout = layout_;
  return with_key_prefix(layout, [&](const auto prefix_of_record) {
    const std::size_t record_bytes = layout.record_bytes;
    const bool whole_keys = prefix_is_whole_key(layout);
    bool ascending = true;
    Element before = prefix_of_record(first);
    for (std::size_t i = 1; i < count; ++i) {
      const std::byte* const record = first + i * record_bytes;
      const Element prefix = prefix_of_record(record);
      ascending &= before <= prefix;
      if (before == prefix && !whole_keys) ascending &= layout.compare(record - record_bytes, record) <= 0;
      before = prefix;
    }
    return ascending;
  });
}

void OrderVerifier::inspect(const std::byte* first, std::size_t count) {
  if (count == 0) return;
  digest_.add(first, count, layout_.record_bytes);
  if (checksum_wanted_) checksum_.add(first, count, layout_.record_bytes);
  const std::byte* const first_key = layout_.key(first, room_);
  if (first_key_.empty()) first_key_.assign(first_key, first_key + layout_.key_bytes);
  if (!last_key_.empty()) in_order_ &= std::memcmp(last_key_.data(), first_key, layout_.key_bytes) <= 0;
  in_order_ &= ascending(first, count);
  const std::byte* const last_key = layout_.key(first + (count - 1) * layout_.record_bytes, room_);
  last_key_.assign(last_key, last_key + layout_.key_bytes);
}

void OrderVerifier::append(const OrderVerifier& next) {
  digest_ += next.digest_;
  checksum_ += next.checksum_;
  in_order_ &= next.in_order_;
  if (next.first_key_.empty()) return;
  if (last_key_.empty()) first_key_ = next.first_key_;
  if (!last_key_.empty()) in_order_ &= std::memcmp(last_key_.data(), next.first_key_.data(), last_key_.size()) <= 0;
  last_key_ = next.last_key_;
}

bool OrderVerifier::same_records(const OrderVerifier& other) const {
  return in_order_ && other.in_order_ && digest_ == other.digest_ && first_key_ == other.first_key_ &&
         last_key_ == other.last_key_;
}

std::vector<std::byte> OrderVerifier::encode() const {
  comm::Packer packer;
  packer.number(digest_.records);
  packer.number(digest_.fingerprint);
  packer.number(static_cast<std::uint64_t>(checksum_.sum_ >> 64));
  packer.number(static_cast<std::uint64_t>(checksum_.sum_));
  packer.number(in_order_ ? 1 : 0);
  packer.number(first_key_.size());
  packer.raw(first_key_.data(), first_key_.size());
  packer.raw(last_key_.data(), last_key_.size());
  return packer.take();
}

OrderVerifier OrderVerifier::decode(const std::vector<std::byte>& bytes, const RecordLayout& layout) {
  comm::Unpacker unpacker(bytes);
  OrderVerifier verifier(layout);
  verifier.digest_.records = unpacker.number();
  verifier.digest_.fingerprint = unpacker.number();
  verifier.checksum_.sum_ = unpacker.number();
  verifier.checksum_.sum_ = verifier.checksum_.sum_ << 64 | unpacker.number();
  verifier.in_order_ = unpacker.number() != 0;
  const std::uint64_t key_bytes = unpacker.number();
  if (key_bytes != 0 && key_bytes != layout.key_bytes)
    throw std::runtime_error("a verifier state of another key length was received");
  verifier.first_key_.resize(key_bytes);
  verifier.last_key_.resize(key_bytes);
  unpacker.raw(verifier.first_key_.data(), key_bytes);
  unpacker.raw(verifier.last_key_.data(), key_bytes);
  unpacker.end();
  return verifier;
}

}  // namespace hetsort::sort
