// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/sort_elements.h"

#include <hwy/contrib/sort/vqsort.h>
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "sort/parallel.h"

namespace hetsort::sort {

namespace {

// Smaller groups are sorted by comparing the rest of the keys; extracting prefixes again would cost more.
constexpr std::size_t kSmallGroup = 16;
// For fewer elements a sort on several threads costs more than it gains.
constexpr std::size_t kParallelElements = std::size_t{1} << 16;

// TBB is not built with ThreadSanitizer, which therefore reports false races in it.
#if defined(HETSORT_SANITIZE_THREAD)
constexpr bool kSequential = true;
#else
constexpr bool kSequential = false;
#endif

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

}  // namespace

void sort_elements(std::span<Element> elements, std::size_t threads) {
  if (!kSequential && threads > 1 && elements.size() >= kParallelElements && can_start_threads(threads - 1)) {
    const tbb::global_control enough(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    arena.execute([&] { tbb::parallel_sort(elements.begin(), elements.end()); });
    return;
  }
  // Where vectors have no fixed size, a sorter needs a buffer of its own.
  thread_local const hwy::Sorter sorter;
  sorter(reinterpret_cast<hwy::uint128_t*>(elements.data()), elements.size(), hwy::SortAscending());
}

void resolve_equal_prefixes(std::span<Element> elements, const std::byte* base, const RecordLayout& layout,
                            std::size_t threads) {
  if (!prefix_is_whole_key(layout)) Resolver(base, layout, threads).resolve(elements, 0);
}

}  // namespace hetsort::sort
