// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What proves the places of sorted records, where these places are the output.
//
// In: the records as they are read, and their elements in sorted order. Out: what an OrderVerifier inspects and which
// digest it must have.
// Idea: if the prefix is the whole key, an element has all that decides, the key and the place. So the elements are the
// records that are verified: those that are written are those that were made of the input, and they ascend. No record
// is read again. With longer keys the records themselves are read in sorted order and verified.
#pragma once

#include <array>
#include <cstddef>

#include "sort/model/rank_context.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::sort {

inline bool is_proven_by_elements(const RankContext& context) {
  return context.options->output.places && prefix_is_whole_key(context.layout);
}

/// The layout of elements as records: all of an element is its key.
inline RecordLayout element_layout() {
  return order::layout_with_keys(sizeof(Element), std::array{KeyField{0, sizeof(Element), order::KeyKind::kUnsigned}});
}

/// The digest of the elements of `count` records, of which the first lies at `base` + `first`.
inline MultisetDigest digest_of_elements(const RecordLayout& layout, const std::byte* base, std::size_t first,
                                         std::size_t count) {
  MultisetDigest digest;
  with_key_prefix(layout, [&](const auto& prefix_of_record) {
    std::array<Element, 256> batch{};
    while (count > 0) {
      const std::size_t taken = std::min(count, batch.size());
      for (std::size_t i = 0; i < taken; ++i, first += layout.record_bytes)
        batch[i] = prefix_of_record(base + first) | first;
      digest.add(std::as_bytes(std::span(batch)).data(), taken, sizeof(Element));
      count -= taken;
    }
  });
  return digest;
}

/// The digest that what is written must have, of such records.
inline MultisetDigest digest_to_prove(const RankContext& context, const std::byte* base, std::size_t first,
                                      std::size_t count) {
  if (is_proven_by_elements(context)) return digest_of_elements(context.layout, base, first, count);
  MultisetDigest digest;
  digest.add(base + first, count, context.layout.record_bytes);
  return digest;
}

}  // namespace hetsort::sort
