// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/gzip_blocks.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "io/compression/decoder.h"
#include "io/compression/side_threads.h"

namespace hetsort::io {

namespace {

// A gzip header with one extra field "BC" of two bytes: the size of the block less one.
constexpr std::array<std::uint8_t, kGzipBlockHeaderBytes - 2> kHeader{0x1f, 0x8b, 8, 4, 0,   0,   0, 0,
                                                                      0,    0xff, 6, 0, 'B', 'C', 2, 0};
constexpr std::size_t kSizeAt = kHeader.size();
constexpr std::size_t kExtraAt = 10;
// A block of so many bytes has room for its header, its trailer and what cannot be compressed.
constexpr std::size_t kHeldBytes = 0xff00;

std::size_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::size_t value = 0;
  for (std::size_t i = size; i > 0; --i) value = value << 8 | std::to_integer<std::size_t>(bytes[at + i - 1]);
  return value;
}

struct Block {
  std::span<const std::byte> from;
  std::size_t place = 0;  // in the output
  std::size_t bytes = 0;
};

void decode(const Block& block, std::byte* into, Decoder& decoder) {
  const Decoder::Step step = decoder.decode(block.from, {into + block.place, block.bytes});
  if (!step.frame_ended || step.taken != block.from.size() || step.written != block.bytes)
    throw DecodeError("a block has another size than it says");
}

void append(std::vector<std::byte>& into, std::span<const std::byte> bytes) {
  into.insert(into.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::optional<std::size_t> gzip_block_bytes(std::span<const std::byte> from) {
  const auto equal = [&](std::size_t first, std::size_t last) {
    return std::equal(kHeader.begin() + first, kHeader.begin() + last,
                      from.begin() + static_cast<std::ptrdiff_t>(first),
                      [](std::uint8_t known, std::byte byte) { return std::byte{known} == byte; });
  };
  // Time, level and system, in between, may be any.
  if (from.size() < kGzipBlockHeaderBytes || !equal(0, 4) || !equal(kExtraAt, kSizeAt)) return std::nullopt;
  return number_at(from, kSizeAt, 2) + 1;
}

std::size_t decode_gzip_blocks(std::span<const std::byte> from, unsigned threads, std::vector<std::byte>& into) {
  std::vector<Block> blocks;
  std::size_t taken = 0;
  std::size_t bytes = 0;
  for (auto size = gzip_block_bytes(from); size && *size <= from.size() - taken;
       size = gzip_block_bytes(from.subspan(taken))) {
    if (*size < kGzipBlockHeaderBytes + 8) throw DecodeError("a block is too short");
    const std::size_t held = number_at(from, taken + *size - 4, 4);
    if (held > kMaxGzipBlockBytes) throw DecodeError("a block is too long");
    if (bytes + held > kMaxDecodedGzipBytes) break;
    blocks.push_back({from.subspan(taken, *size), bytes, held});
    bytes += held;
    taken += *size;
  }
  assert(!blocks.empty());
  into.reserve(kMaxDecodedGzipBytes);
  into.resize(bytes);
  run_beside(std::min<std::size_t>(threads, blocks.size()), [&](std::size_t worker, std::size_t workers) {
    const std::unique_ptr<Decoder> decoder = make_decoder(Compression::kGzip);
    for (std::size_t i = blocks.size() * worker / workers; i < blocks.size() * (worker + 1) / workers; ++i)
      decode(blocks[i], into.data(), *decoder);
  });
  return taken;
}

void encode_gzip_blocks(std::span<const std::byte> from, int level, std::vector<std::byte>& into) {
  std::vector<std::uint8_t> memory(ISAL_DEF_LVL3_DEFAULT);
  while (!from.empty()) {
    const std::span<const std::byte> held = from.first(std::min(from.size(), kHeldBytes));
    from = from.subspan(held.size());
    const std::size_t begin = into.size();
    append(into, std::as_bytes(std::span(kHeader)));
    into.resize(begin + kMaxGzipBlockBytes);
    isal_zstream stream{};
    isal_deflate_stateless_init(&stream);
    stream.level = static_cast<std::uint32_t>(level);
    stream.level_buf = memory.data();
    stream.level_buf_size = static_cast<std::uint32_t>(memory.size());
    stream.gzip_flag = IGZIP_GZIP_NO_HDR;
    stream.end_of_stream = 1;
    stream.flush = NO_FLUSH;
    // The library reads these bytes only.
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(held.data()));
    stream.avail_in = static_cast<std::uint32_t>(held.size());
    stream.next_out = reinterpret_cast<std::uint8_t*>(into.data() + begin + kGzipBlockHeaderBytes);
    stream.avail_out = kMaxGzipBlockBytes - kGzipBlockHeaderBytes;
    [[maybe_unused]] const int result = isal_deflate_stateless(&stream);
    assert(result == COMP_OK);
    const std::size_t size = kMaxGzipBlockBytes - stream.avail_out;
    into.resize(begin + size);
    into[begin + kSizeAt] = static_cast<std::byte>(size - 1);
    into[begin + kSizeAt + 1] = static_cast<std::byte>((size - 1) >> 8);
  }
}

void end_gzip_blocks(std::vector<std::byte>& into) {
  append(into, std::as_bytes(std::span(kHeader)));
  // The size less one, an empty block of deflate, checksum and length.
  constexpr std::array<std::uint8_t, 12> kRest{0x1b, 0, 3};
  append(into, std::as_bytes(std::span(kRest)));
}

}  // namespace hetsort::io
