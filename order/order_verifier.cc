// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "order/order_verifier.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "io/checksum/checksum.h"
#include "order/line_keys.h"

namespace hetsort::order {

void MultisetDigest::add(const std::byte* first, std::size_t count, std::size_t record_bytes) {
  records += count;
  fingerprint += io::fingerprint(std::span(first, count * record_bytes), record_bytes);
}

std::uint64_t MultisetDigest::add(const RecordLayout& layout, const std::byte* first, std::size_t bytes) {
  const std::uint64_t before = records;
  if (layout.is_lines()) {
    const LineKeys keys(*layout.lines);
    for (const std::byte* const end = first + bytes; first != end;) {
      const std::byte* const next = keys.end_of_line(first, end);
      add(first, 1, static_cast<std::size_t>(next - first));
      first = next;
    }
  } else {
    add(first, bytes / layout.record_bytes, layout.record_bytes);
  }
  return records - before;
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
  bytes_ += count * layout_.record_bytes;
  if (layout_.is_lines()) return inspect_lines(first, count);
  const std::byte* const first_key = layout_.key(first, room_);
  if (first_key_.empty()) first_key_.assign(first_key, first_key + layout_.key_bytes);
  const bool was_in_order = in_order_;
  if (!last_key_.empty()) in_order_ &= std::memcmp(last_key_.data(), first_key, layout_.key_bytes) <= 0;
  in_order_ &= ascending(first, count);
  if (was_in_order && !in_order_) first_disorder_ = find_disorder(first, last_key_);
  digest_.add(first, count, layout_.record_bytes);
  if (checksum_wanted_) checksum_.add(first, count, layout_.record_bytes);
  const std::byte* const last_key = layout_.key(first + (count - 1) * layout_.record_bytes, room_);
  last_key_.assign(last_key, last_key + layout_.key_bytes);
}

/// The first record from `first` on that is below the one before it. Requires: there is one. `key_before`: the
/// normalized key of the record before `first`, if there is one.
OrderVerifier::RecordPlace OrderVerifier::find_disorder(const std::byte* first,
                                                        std::span<const std::byte> key_before) const {
  std::vector<std::byte> room;
  const std::byte* record = first;
  const std::byte* const first_key = layout_.key(first, room);
  if (key_before.empty() || std::memcmp(key_before.data(), first_key, layout_.key_bytes) <= 0) do
      record += layout_.record_bytes;
    while (layout_.compare(record - layout_.record_bytes, record) <= 0);
  const std::uint64_t number = digest_.records + static_cast<std::uint64_t>(record - first) / layout_.record_bytes;
  return {number, number * layout_.record_bytes};
}

void OrderVerifier::inspect_lines(const std::byte* first, std::size_t bytes) {
  const std::byte* const end = first + bytes;
  const LineKeys keys(*layout_.lines);
  if (!begun_line_.empty()) {
    const std::byte* const line_end = keys.end_of_line(first, end);
    begun_line_.append({first, line_end});
    if (!keys.is_whole(begun_line_.bytes())) return;
    inspect_whole_lines(begun_line_.bytes());
    std::swap(last_line_, begun_line_);
    begun_line_.clear();
    first = line_end;
  }
  const std::size_t whole = keys.whole_lines({first, end});
  if (whole > 0) last_line_.assign(inspect_whole_lines({first, whole}));
  begun_line_.append({first + whole, end});
}

/// Returns the last one of the lines, which becomes the last line.
std::span<const std::byte> OrderVerifier::inspect_whole_lines(std::span<const std::byte> lines) {
  const LineKeys keys(*layout_.lines);
  const std::byte* const end = lines.data() + lines.size();
  std::span<const std::byte> line = keys.line_at(lines.data());
  Element prefix = keys.prefix(line);
  const auto compare = [&](std::span<const std::byte> before, Element prefix_before) {
    note_order(prefix_before == prefix ? keys.compare(before, line) : (prefix_before < prefix ? -1 : 1));
  };
  if (digest_.records > 0)
    compare(last_line_.bytes(), keys.prefix(last_line_.bytes()));
  else if (keeps_first_line_)
    first_key_.assign(line.begin(), line.end());
  while (true) {
    digest_.add(line.data(), 1, line.size());
    whole_line_bytes_ += line.size();
    longest_line_ = std::max<std::uint64_t>(longest_line_, line.size());
    if (checksum_wanted_) checksum_.add(line.data(), 1, line.size());
    const std::span<const std::byte> before = line;
    if (before.data() + before.size() == end) return before;
    line = keys.line_at(before.data() + before.size());
    compare(before, std::exchange(prefix, keys.prefix(line)));
  }
}

/// Judges the order of two neighbouring lines. `order`: the result of comparing the first with the second.
void OrderVerifier::note_order(int order) {
  const bool ascends = least_step_ == 0 ? order <= 0 : order < 0;
  in_order_ &= ascends;
  if (!ascends && !first_disorder_) first_disorder_ = {digest_.records, whole_line_bytes_};
}

void OrderVerifier::append(OrderVerifier next) {
  const bool is_first = digest_.records == 0;
  digest_ += next.digest_;
  bytes_ += next.bytes_;
  checksum_ += next.checksum_;
  in_order_ &= next.in_order_;
  if (next.digest_.records == 0) return;
  if (is_first)
    first_key_ = std::move(next.first_key_);
  else if (layout_.is_lines())
    in_order_ &= LineKeys(*layout_.lines).compare(last_line_.bytes(), next.first_key_) <= 0;
  else
    in_order_ &= compare_bytes(last_key_, next.first_key_) <= 0;
  last_key_ = std::move(next.last_key_);
  last_line_ = std::move(next.last_line_);
}

bool OrderVerifier::same_records(const OrderVerifier& other) const {
  return in_order_ && other.in_order_ && digest_ == other.digest_ && first_key_ == other.first_key_ &&
         std::ranges::equal(last_key(), other.last_key());
}

OrderVerifier::State OrderVerifier::state() const {
  const std::span<const std::byte> last = last_key();
  return {digest_, checksum_, in_order_, first_key_, {last.begin(), last.end()}};
}

OrderVerifier::OrderVerifier(const RecordLayout& layout, State state, std::uint64_t bytes_seen)
    : layout_(layout),
      digest_(state.digest),
      bytes_(bytes_seen),
      checksum_(state.checksum),
      in_order_(state.in_order),
      first_key_(std::move(state.first_key)) {
  const std::size_t bytes = layout_.common_key_bytes();
  for (const std::vector<std::byte>* const key : {&first_key_, &state.last_key})
    if (bytes == 0 ? key->empty() != (digest_.records == 0) : !key->empty() && key->size() != bytes)
      throw std::runtime_error("a rank reports a key of another length");
  if (layout_.is_lines())
    last_line_.assign(state.last_key);
  else
    last_key_ = std::move(state.last_key);
}

}  // namespace hetsort::order
