// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The local sort of elements.
//
// In: elements in any order. Out: the same elements, sorted by whole key and place.
// Idea: first by (key prefix, place), as 128-bit numbers; then groups of equal prefixes by the key bytes behind, ten at
// a time. With room for it, a bucket is sorted as 64-bit numbers of which few are equal. The bytes that a whole group
// has in common are skipped first, so a long common part of the keys costs one comparison of its records and not one
// pass for every ten bytes. Cost: n log n vectorised comparisons; one random access to each record of a group for each
// ten bytes in which its keys differ. Blacher, Giesen, Sanders, Wassenberg, Vectorized and performance-portable
// quicksort, 2022 (vqsort); Bentley and Sedgewick, Fast algorithms for sorting and searching strings, SODA 1997
// (multikey quicksort).
#pragma once

#include <cstddef>
#include <span>

#include "sort/model/record_order.h"

namespace hetsort::sort {

/// Sorts by (prefix, place): with Highway's vqsort on one thread, with TBB's parallel sort on more.
void sort_elements(std::span<Element> elements, std::size_t threads = 1);
/// Sorts on one thread. Overwrites `room`; half as many elements again as `elements` has make it faster.
void sort_elements(std::span<Element> elements, std::span<Element> room);

/// Completes sort_elements(): puts elements with equal prefixes in the order of their whole keys and places. Does
/// nothing where the prefix is the whole key. Overwrites prefixes; each element keeps its place. Uses up to `threads`
/// threads on large groups.
void resolve_equal_prefixes(std::span<Element> elements, const std::byte* base, const RecordLayout& layout,
                            std::size_t threads = 1);

}  // namespace hetsort::sort
