// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/run_probe.h"

#include <algorithm>

#include "io/error.h"
#include "sort/line_keys.h"
#include "sort/pages.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

/// Bytes of the pages that the keys of a record may touch.
std::size_t probe_bytes(const RecordLayout& layout) {
  return round_up(layout.key_span_bytes(), kPageBytes) + kPageBytes;
}

/// The layout of records that begin with the first byte of a key.
RecordLayout without_front(RecordLayout layout) {
  const auto front = static_cast<std::uint32_t>(layout.key_offset);
  for (std::size_t i = 0; i < layout.field_count; ++i) layout.fields[i].offset -= front;
  layout.key_offset = 0;
  return layout;
}

}  // namespace

RunProbe::RunProbe(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout)
    : runs_(runs),
      space_(&space),
      layout_(layout),
      key_span_(without_front(layout)),
      records_per_block_(records_per_block(space, layout)),
      page_(probe_bytes(layout)),
      queue_(io::make_queue(io::Backend::kBuffered, 1)) {}

const Element* RunProbe::known_prefix(std::size_t run, std::uint64_t position) const {
  if (position % records_per_block_ != 0) return nullptr;
  return &runs_[run].blocks[position / records_per_block_].first_prefix;
}

/// Bytes [first_page, first_page + bytes) of a block, of which the first `needed` must exist.
std::span<const std::byte> RunProbe::pages(std::uint64_t block, std::uint64_t first_page, std::uint64_t bytes,
                                           std::uint64_t needed) {
  std::vector<std::byte>& pages = read_[{block, first_page}];
  if (pages.size() < bytes) {
    const io::SpillPlace place = space_->place(block);
    queue_->submit({.file = place.file,
                    .direction = io::Direction::kRead,
                    .data = page_.data(),
                    .bytes = bytes,
                    .offset_bytes = place.offset_bytes + first_page});
    const std::size_t got = queue_->wait().bytes;
    if (got < needed)
      throw io::Error("read spilled block in", place.file->name(), "the file is shorter than what was written");
    pages.assign(page_.data(), page_.data() + bytes);
  }
  return pages;
}

RunProbe::FoundLine RunProbe::line_at(std::size_t run, std::uint64_t position) {
  const SpilledRun& lines = runs_[run];
  const LineKeys keys(*layout_.lines);
  // The bytes of the run on the page of byte `at`.
  const auto page_at = [&](std::uint64_t at) {
    const std::uint64_t first = at / kPageBytes * kPageBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPageBytes, lines.records - first);
    return pages(lines.blocks[first / records_per_block_].number, first % records_per_block_, kPageBytes, bytes)
        .first(bytes);
  };
  FoundLine found{position, {}};
  // A line begins behind a terminator, or with the run.
  while (found.first > 0) {
    const std::uint64_t page_first = (found.first - 1) / kPageBytes * kPageBytes;
    const std::size_t before = keys.whole_lines(page_at(found.first - 1).first(found.first - page_first));
    found.first = page_first + before;
    if (before > 0) break;
  }
  for (std::uint64_t at = found.first; at < lines.records && !keys.is_whole(found.line);) {
    const std::span<const std::byte> rest = page_at(at).subspan(at % kPageBytes);
    const std::byte* const end = keys.end_of_line(rest.data(), rest.data() + rest.size());
    found.line.insert(found.line.end(), rest.data(), end);
    at += static_cast<std::uint64_t>(end - rest.data());
  }
  return found;
}

std::string RunProbe::key(std::size_t run, std::uint64_t position) {
  const std::uint64_t block = runs_[run].blocks[position / records_per_block_].number;
  const std::uint64_t begin = position % records_per_block_ * layout_.record_bytes + layout_.key_offset;
  const std::uint64_t first_page = begin / kPageBytes * kPageBytes;
  const std::uint64_t span_bytes = layout_.key_span_bytes();
  const std::uint64_t bytes = round_up(begin + span_bytes, kPageBytes) - first_page;
  const std::span<const std::byte> found = pages(block, first_page, bytes, begin - first_page + span_bytes);
  std::vector<std::byte> room;
  const std::byte* const key = key_span_.key(found.data() + (begin - first_page), room);
  return {reinterpret_cast<const char*>(key), layout_.key_bytes};
}

}  // namespace hetsort::sort
