// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/run_probe.h"

#include <algorithm>
#include <cassert>

#include "io/error.h"
#include "sort/machine/pages.h"
#include "sort/model/record_order.h"
#include "sort/runs/run_reader.h"
#include "sort/runs/spill_writer.h"

namespace hetsort::sort {

namespace {

// Maximum bytes that are cached: long lines take many reads, and are not read again soon.
constexpr std::size_t kMaxCachedBytes = std::size_t{4} << 20;

/// Maximum bytes of the pages that hold the keys of a record, or a page of lines.
std::size_t probe_bytes(const RecordLayout& layout) {
  return round_up(std::max(layout.key_span_bytes(), kPageBytes), kPageBytes) + kPageBytes;
}

/// The layout of records without the bytes before the first key.
RecordLayout without_front(RecordLayout layout) {
  const auto front = static_cast<std::uint32_t>(layout.key_offset);
  for (KeyField& field : layout.fields) field.offset -= front;
  layout.key_offset = 0;
  return layout;
}

}  // namespace

RunProbe::RunProbe(std::span<const SpilledRun> runs, const io::SpillSpace& space, const RecordLayout& layout)
    : runs_(runs),
      layout_(layout),
      key_span_(without_front(layout)),
      records_per_block_(records_per_block(space, layout)),
      page_(probe_bytes(layout)),
      queue_(io::make_queue(io::Backend::kBuffered, 1)) {}

const Element* RunProbe::known_prefix(std::size_t run, std::uint64_t position) const {
  return runs_[run].prefixes.at(position);
}

/// Reads the pages that hold `bytes` bytes, and returns all from the first of these bytes on.
std::span<const std::byte> RunProbe::read(const io::SpillPlace& place, std::uint64_t bytes) {
  const std::uint64_t skipped = place.offset_bytes % kPageBytes;
  const std::uint64_t needed = skipped + bytes;
  const std::uint64_t whole = round_up(needed, kPageBytes);
  if (page_.size_bytes() < whole) page_ = io::Buffer(whole);
  queue_->submit({.file = place.file,
                  .direction = io::Direction::kRead,
                  .data = page_.data(),
                  .bytes = whole,
                  .offset_bytes = place.offset_bytes - skipped});
  if (queue_->wait().bytes < needed)
    throw io::Error("read", place.file->name(), "the file is shorter than it was: it changed while it was sorted");
  return page_.span().first(whole).subspan(skipped);
}

/// What is cached of the bytes from this place on.
std::vector<std::byte>& RunProbe::cached(const io::SpillPlace& place) {
  if (cached_bytes_ >= kMaxCachedBytes) forget();
  return read_[{place.file, place.offset_bytes}];
}

/// Makes room for more of them.
void RunProbe::grow(std::vector<std::byte>& bytes, std::size_t size) {
  cached_bytes_ += size - bytes.size();
  bytes.resize(size);
}

/// Bytes [first, first + bytes) of a block. Reads the pages that hold them.
std::span<const std::byte> RunProbe::bytes_of(const SpilledBlock& block, std::uint64_t first, std::uint64_t bytes) {
  if (block.packed.exist()) return bytes_of_packed(block, first, bytes);
  const std::uint64_t begin = block.place.offset_bytes + first;
  const io::SpillPlace first_page{block.place.file, begin / kPageBytes * kPageBytes};
  const std::uint64_t needed = begin - first_page.offset_bytes + bytes;
  std::vector<std::byte>& pages = cached(first_page);
  if (pages.size() < needed) {
    const std::span<const std::byte> found = read(first_page, needed);
    grow(pages, found.size());
    std::ranges::copy(found, pages.begin());
  }
  return std::span<const std::byte>(pages).subspan(begin - first_page.offset_bytes, bytes);
}

/// Bytes of a compressed block. Reads the pieces that hold them.
std::span<const std::byte> RunProbe::bytes_of_packed(const SpilledBlock& block, std::uint64_t first,
                                                     std::uint64_t bytes) {
  const io::PackedPieces& packed = block.packed;
  const std::uint64_t from = first / io::kPieceBytes;
  const std::uint64_t last = (first + bytes - 1) / io::kPieceBytes;
  const io::SpillPlace place{block.place.file, block.place.offset_bytes + packed.begin(from)};
  std::vector<std::byte>& pieces = cached(place);
  const std::uint64_t needed = (last - from) * io::kPieceBytes + packed.piece_bytes(last);
  if (pieces.size() < needed) {
    const std::span<const std::byte> found = read(place, packed.ends[last] - packed.begin(from));
    grow(pieces, needed);
    for (std::uint64_t piece = from; piece <= last; ++piece) {
      const std::size_t begin = packed.begin(piece) - packed.begin(from);
      if (!unpacker_.unpack(packed, piece, found.subspan(begin, packed.ends[piece] - packed.begin(piece)),
                            pieces.data() + (piece - from) * io::kPieceBytes))
        throw_corrupt_block(block);
    }
  }
  return std::span<const std::byte>(pieces).subspan(first % io::kPieceBytes, bytes);
}

RunProbe::FoundLine RunProbe::line_at(std::size_t run, std::uint64_t position) {
  assert(position < runs_[run].records);
  const SpilledRun& lines = runs_[run];
  const LineKeys keys(*layout_.lines);
  // The bytes of the run on the page of byte `at`.
  const auto page_at = [&](std::uint64_t at) {
    const std::uint64_t first = at / kPageBytes * kPageBytes;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPageBytes, lines.records - first);
    return bytes_of(lines.blocks[first / records_per_block_], first % records_per_block_, bytes);
  };
  FoundLine found{position, {}};
  // Find the begin of the line: behind a terminator, or at the begin of the run.
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
  assert(position < runs_[run].records);
  const std::uint64_t begin = position % records_per_block_ * layout_.record_bytes + layout_.key_offset;
  const std::span<const std::byte> found =
      bytes_of(runs_[run].blocks[position / records_per_block_], begin, layout_.key_span_bytes());
  std::vector<std::byte> room;
  const std::byte* const key = key_span_.key(found.data(), room);
  return {reinterpret_cast<const char*>(key), layout_.key_bytes};
}

}  // namespace hetsort::sort
