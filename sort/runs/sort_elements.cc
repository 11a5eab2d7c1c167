// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/sort_elements.h"

#include <hwy/contrib/sort/vqsort.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sort/machine/parallel.h"
#include "sort/model/record_order.h"

namespace hetsort::sort {

namespace {

// Groups of up to this size are sorted by comparing the rest of the keys; extracting prefixes again would cost more.
constexpr std::size_t kSmallGroup = 16;
// Bytes of keys of a small group that a thread keeps in memory. Longer keys are computed for each comparison.
constexpr std::size_t kSmallGroupBytes = std::size_t{256} << 10;
// Number of levels after which lines are compared. Lines of which each begins the next one, for example, take a level
// each.
constexpr std::size_t kMaxLevels = 64;
// Number of elements from which on a sort on several threads gains more than it costs.
constexpr std::size_t kParallelElements = std::size_t{1} << 16;

class Resolver {
 public:
  Resolver(const std::byte* base, const RecordLayout& layout, std::size_t threads)
      : base_(base), layout_(layout), threads_(threads) {}

  /// `elements` are sorted by (prefix from key byte `depth` on, place).
  void resolve(std::span<Element> elements, std::size_t depth) const {
    const std::size_t behind = depth + kPrefixBytes;
    if (behind >= layout_.key_bytes) return;
    std::vector<std::span<Element>> large;
    for (auto first = elements.begin(); first != elements.end();) {
      const Element prefix = prefix_of(*first);
      const auto last = std::find_if(first + 1, elements.end(), [&](Element e) { return prefix_of(e) != prefix; });
      const std::span<Element> group(first, last);
      if (group.size() > 1 && (threads_ == 1 || group.size() < kParallelElements)) resolve_group(group, behind);
      if (threads_ > 1 && group.size() >= kParallelElements) large.push_back(group);
      first = last;
    }
    for (const std::span<Element> group : large) resolve_group(group, behind);
  }

 private:
  const std::byte* record(Element element) const { return base_ + place_of(element); }

  /// `group`: equal keys before byte `depth`, ascending places.
  void resolve_group(std::span<Element> group, std::size_t depth) const {
    if (group.size() <= kSmallGroup) {
      std::sort(group.begin(), group.end(), [&](Element a, Element b) {
        const int order = layout_.compare(record(a), record(b), depth);
        return order != 0 ? order < 0 : place_of(a) < place_of(b);
      });
      return;
    }
    depth += shared_bytes(group, depth);
    if (depth >= layout_.key_bytes) return;  // all equal: ascending places are the order
    for (Element& element : group) element = key_prefix(layout_, record(element), depth) | place_of(element);
    sort_elements(group, threads_);
    resolve(group, depth);
  }

  /// Length of the key part from `depth` on that all of `group` share.
  std::size_t shared_bytes(std::span<const Element> group, std::size_t depth) const {
    std::vector<std::byte> room;
    std::vector<std::byte> model_room;
    const std::byte* const model = layout_.key(record(group.front()), model_room) + depth;
    std::size_t shared = layout_.key_bytes - depth;
    for (const Element element : group) {
      const std::byte* const key = layout_.key(record(element), room) + depth;
      shared = static_cast<std::size_t>(std::mismatch(key, key + shared, model).first - key);
      if (shared == 0) break;
    }
    return shared;
  }

  const std::byte* base_;
  const RecordLayout& layout_;
  std::size_t threads_;
};

/// Resolver for lines, whose keys have no common length.
class LineResolver {
 public:
  LineResolver(const std::byte* base, const LineKeys& keys, std::size_t threads)
      : base_(base), keys_(keys), threads_(threads) {}

  /// `elements` are sorted by (zero-filled prefix from key byte `depth` on, place); before it their keys are equal.
  void resolve(std::span<Element> elements, std::size_t depth = 0, std::size_t level = 0) {
    std::vector<std::span<Element>> large;
    for (auto first = elements.begin(); first != elements.end();) {
      const Element prefix = prefix_of(*first);
      const auto last = std::find_if(first + 1, elements.end(), [&](Element e) { return prefix_of(e) != prefix; });
      const std::span<Element> group(first, last);
      if (group.size() > 1 && (threads_ == 1 || group.size() < kParallelElements)) resolve_group(group, depth, level);
      if (threads_ > 1 && group.size() >= kParallelElements) large.push_back(group);
      first = last;
    }
    for (const std::span<Element> group : large) resolve_group(group, depth, level);
  }

 private:
  std::span<const std::byte> line(Element element) const { return keys_.line_at(base_ + place_of(element)); }

  /// `group`: equal keys before byte `depth`, ascending places.
  void resolve_group(std::span<Element> group, std::size_t depth, std::size_t level) {
    if (group.size() <= kSmallGroup && are_short(group)) return sort_small(group);
    if (group.size() <= kSmallGroup || level == kMaxLevels) return sort_by_comparing(group);
    // Keys of exactly `depth` bytes come first, and are equal.
    depth = shared_bytes(group, depth);
    const auto ends_here = [&](Element element) { return keys_.key(line(element), room_).size() == depth; };
    const auto longer = std::stable_partition(group.begin(), group.end(), ends_here);
    const std::span<Element> rest(longer, group.end());
    for (Element& element : rest) element = keys_.prefix(line(element), depth, room_) | place_of(element);
    sort_elements(rest, threads_);
    resolve(rest, depth, level + 1);
  }

  void sort_by_comparing(std::span<Element> group) const {
    std::sort(group.begin(), group.end(), [&](Element a, Element b) {
      const int order = keys_.compare(line(a), line(b));
      return order != 0 ? order < 0 : place_of(a) < place_of(b);
    });
  }

  bool are_short(std::span<const Element> group) const {
    std::size_t bytes = 0;
    for (const Element element : group) bytes += line(element).size();
    return bytes <= kSmallGroupBytes;
  }

  /// Sorts a small group by whole keys, each of which is computed once.
  void sort_small(std::span<Element> group) {
    struct Keyed {
      std::span<const std::byte> key;
      Element element = 0;
    };
    std::array<Keyed, kSmallGroup> keyed;
    for (std::size_t i = 0; i < group.size(); ++i)
      keyed[i] = {keys_.key(line(group[i]), small_rooms_[i]), place_of(group[i])};
    std::sort(keyed.begin(), keyed.begin() + group.size(), [](const Keyed& a, const Keyed& b) {
      const int order = compare_bytes(a.key, b.key);
      return order != 0 ? order < 0 : a.element < b.element;
    });
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = keyed[i].element;
  }

  /// Length of the key part that all of `group` share, which is at least `depth`.
  std::size_t shared_bytes(std::span<const Element> group, std::size_t depth) {
    std::vector<std::byte> model_room;
    std::span<const std::byte> shared = keys_.key(line(group.front()), model_room);
    shared = shared.subspan(depth);
    for (const Element element : group.subspan(1)) {
      const std::span<const std::byte> key = keys_.key(line(element), room_).subspan(depth);
      shared = shared.first(std::min(shared.size(), key.size()));
      const auto differs = std::mismatch(shared.begin(), shared.end(), key.begin());
      shared = shared.first(static_cast<std::size_t>(differs.first - shared.begin()));
      if (shared.empty()) break;
    }
    return depth + shared.size();
  }

  const std::byte* base_;
  LineKeys keys_;
  std::size_t threads_;
  std::vector<std::byte> room_;
  std::array<std::vector<std::byte>, kSmallGroup> small_rooms_;
};

/// Sorts numbers. On processors whose vectors have no fixed size, a sorter needs a buffer of its own.
template <typename Number>
void sort_numbers(Number* numbers, std::size_t count) {
  thread_local const hwy::Sorter sorter;
  sorter(numbers, count, hwy::SortAscending());
}

// The lower bits of a front hold the number of its element, the upper ones the leading bits in which elements differ.
constexpr int kFrontPlaceBits = 16;
constexpr std::uint64_t kFrontPlaceMask = (std::uint64_t{1} << kFrontPlaceBits) - 1;
// Elements from which on fronts gain more than they cost.
constexpr std::size_t kMinFronts = 1024;
constexpr std::size_t kSampledFronts = 64;

/// Whether some of a few fronts are equal but for their numbers. Then many are.
bool seem_equal(std::span<const std::uint64_t> fronts) {
  std::array<std::uint64_t, kSampledFronts> sample{};
  for (std::size_t i = 0; i < sample.size(); ++i)
    sample[i] = fronts[i * fronts.size() / sample.size()] >> kFrontPlaceBits;
  std::ranges::sort(sample);
  return std::ranges::adjacent_find(sample) != sample.end();
}

/// Sorts by 64-bit numbers, about twice as fast as by 128-bit ones: each has the 48 highest bits in which the elements
/// differ at all, and the number of its element. Elements whose 48 bits are equal are put in order at the end. Returns
/// false, and may have moved elements, if too many of them are.
bool sort_by_front(std::span<Element> elements, std::span<Element> room) {
  const std::size_t count = elements.size();
  Element differing = 0;
  for (const Element element : elements) differing |= element ^ elements.front();
  const auto high = static_cast<std::uint64_t>(differing >> 64);
  const int shared = high != 0 ? std::countl_zero(high) : 64;
  const std::span<Element> unsorted = room.first(count);
  const std::span<std::uint64_t> fronts(reinterpret_cast<std::uint64_t*>(room.data() + count), count);
  for (std::size_t i = 0; i < count; ++i) {
    unsorted[i] = elements[i];
    fronts[i] = (static_cast<std::uint64_t>(elements[i] << shared >> 64) & ~kFrontPlaceMask) | i;
  }
  if (seem_equal(fronts)) return false;
  sort_numbers(fronts.data(), count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = unsorted[fronts[i] & kFrontPlaceMask];
  std::size_t moves = 0;
  for (std::size_t i = 1; i < count && moves < count; ++i) {
    const Element element = elements[i];
    std::size_t at = i;
    for (; at > 0 && element < elements[at - 1]; --at) elements[at] = elements[at - 1];
    elements[at] = element;
    moves += i - at;
  }
  return moves < count;
}

void resolve(const LineKeys& keys, std::span<Element> elements, const std::byte* base, std::size_t threads) {
  LineResolver(base, keys, threads).resolve(elements);
}

void resolve(const FixedRecords& records, std::span<Element> elements, const std::byte* base, std::size_t threads) {
  if (!prefix_is_whole_key(records.layout)) Resolver(base, records.layout, threads).resolve(elements, 0);
}

}  // namespace

void sort_elements(std::span<Element> elements, std::size_t threads) {
  const auto in_parallel = [&] { tbb::parallel_sort(elements.begin(), elements.end()); };
  if (elements.size() >= kParallelElements && run_in_arena(threads, in_parallel)) return;
  sort_numbers(reinterpret_cast<hwy::uint128_t*>(elements.data()), elements.size());
}

void sort_elements(std::span<Element> elements, std::span<Element> room) {
  const std::size_t count = elements.size();
  if (count < kMinFronts || count > kFrontPlaceMask || room.size() < count + (count + 1) / 2 ||
      !sort_by_front(elements, room))
    sort_elements(elements);
}

void resolve_equal_prefixes(std::span<Element> elements, const std::byte* base, const RecordLayout& layout,
                            std::size_t threads) {
  with_records(layout, [&](const auto& records) { resolve(records, elements, base, threads); });
}

}  // namespace hetsort::sort
