// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/memory_run.h"

#include <algorithm>
#include <array>

namespace hetsort::sort {

void MemoryRun::copy(std::uint64_t position, std::uint64_t count, std::span<Element> scratch, std::byte* to) const {
  // 16 KiB of elements: they stay in the first-level cache until their records are copied.
  std::array<Element, 1024> elements;
  while (count > 0) {
    const std::span<Element> batch = std::span(elements).first(std::min<std::uint64_t>(elements.size(), count));
    index->copy_sorted(position, batch, memory.base, scratch);
    copy_records(batch, memory, to);
    position += batch.size();
    count -= batch.size();
    to += batch.size() * memory.layout.record_bytes;
  }
}

void MemoryRun::sort_border(std::uint64_t position, std::span<Element> scratch) const {
  if (position < records()) static_cast<void>(index->element(position, memory.base, scratch));
}

}  // namespace hetsort::sort
