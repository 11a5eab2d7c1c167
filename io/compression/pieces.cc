// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/pieces.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>

namespace hetsort::io {

namespace {

// A block is compressed if its first piece shrinks by a byte of so many: less is not worth the work of reading it.
constexpr std::size_t kMinGain = 8;

// The fastest usual level. With level 3, text of sorted lines takes twice the time and 7 % fewer bytes.
constexpr int kZstdLevel = 1;

}  // namespace

struct PiecePacker::State {
  Compression format;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd{nullptr, ZSTD_freeCCtx};
  std::array<std::byte, kPieceBytes> packed{};

  /// Compresses a piece into `packed`, of which it may take `room` bytes. Returns how many it takes; 0 if they do not
  /// suffice.
  std::size_t pack(std::span<const std::byte> piece, std::size_t room) {
    if (format == Compression::kLz4)
      return static_cast<std::size_t>(LZ4_compress_default(reinterpret_cast<const char*>(piece.data()),
                                                           reinterpret_cast<char*>(packed.data()),
                                                           static_cast<int>(piece.size()), static_cast<int>(room)));
    const std::size_t bytes = ZSTD_compress2(zstd.get(), packed.data(), room, piece.data(), piece.size());
    return ZSTD_isError(bytes) != 0 ? 0 : bytes;
  }
};

PiecePacker::PiecePacker(Compression format) : state_(new State{format}) {
  assert(format == Compression::kZstd || format == Compression::kLz4);
  if (format != Compression::kZstd) return;
  state_->zstd.reset(ZSTD_createCCtx());
  if (!state_->zstd) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(state_->zstd.get(), ZSTD_c_compressionLevel, kZstdLevel);
}

PiecePacker::~PiecePacker() = default;

PackedPieces PiecePacker::pack(std::span<std::byte> block) {
  PackedPieces pieces{state_->format, static_cast<std::uint32_t>(block.size())};
  std::size_t end = 0;
  for (std::size_t at = 0; at < block.size(); at += kPieceBytes) {
    const std::span<std::byte> piece = block.subspan(at, std::min(kPieceBytes, block.size() - at));
    const std::size_t room = piece.size() - (at == 0 ? std::max<std::size_t>(1, piece.size() / kMinGain) : 1);
    const std::size_t bytes = room == 0 ? 0 : state_->pack(piece, room);
    if (bytes == 0 && at == 0) return {};
    // A piece that does not shrink stays as it is.
    std::memmove(block.data() + end, bytes == 0 ? piece.data() : state_->packed.data(),
                 bytes == 0 ? piece.size() : bytes);
    end += bytes == 0 ? piece.size() : bytes;
    pieces.ends.push_back(static_cast<std::uint32_t>(end));
  }
  return pieces;
}

struct PieceUnpacker::State {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd{nullptr, ZSTD_freeDCtx};
  std::array<std::byte, kPieceBytes> packed{};
};

PieceUnpacker::PieceUnpacker() = default;
PieceUnpacker::~PieceUnpacker() = default;

bool PieceUnpacker::unpack(const PackedPieces& pieces, std::size_t piece, std::span<const std::byte> from,
                           std::byte* into) {
  const std::size_t bytes = pieces.piece_bytes(piece);
  if (from.size() >= bytes) {
    std::memmove(into, from.data(), bytes);
    return from.size() == bytes;
  }
  if (!state_) state_ = std::make_unique<State>();
  std::memcpy(state_->packed.data(), from.data(), from.size());
  if (pieces.format == Compression::kLz4)
    return LZ4_decompress_safe(reinterpret_cast<const char*>(state_->packed.data()), reinterpret_cast<char*>(into),
                               static_cast<int>(from.size()), static_cast<int>(bytes)) == static_cast<int>(bytes);
  if (!state_->zstd) state_->zstd.reset(ZSTD_createDCtx());
  if (!state_->zstd) throw std::bad_alloc();
  return ZSTD_decompressDCtx(state_->zstd.get(), into, bytes, state_->packed.data(), from.size()) == bytes;
}

bool PieceUnpacker::unpack_block(const PackedPieces& pieces, std::byte* memory, std::size_t at) {
  // No compressed piece is larger than the piece, so that those that are left lie behind what is decompressed.
  assert(at + pieces.bytes() >= pieces.block_bytes);
  for (std::size_t piece = 0; piece < pieces.ends.size(); ++piece) {
    const std::span<const std::byte> from(memory + at + pieces.begin(piece), memory + at + pieces.ends[piece]);
    if (!unpack(pieces, piece, from, memory + piece * kPieceBytes)) return false;
  }
  return true;
}

}  // namespace hetsort::io
