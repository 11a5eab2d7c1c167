// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/decoder.h"

#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

namespace hetsort::io {

namespace {

std::uint32_t at_most_4_gib(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() { begin_member(); }

  Step decode(std::span<const std::byte> from, std::span<std::byte> into) override {
    const std::uint32_t offered = at_most_4_gib(from.size());
    const std::uint32_t room = at_most_4_gib(into.size());
    // The library reads these bytes only.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(from.data()));
    state_.avail_in = offered;
    state_.next_out = reinterpret_cast<std::uint8_t*>(into.data());
    state_.avail_out = room;
    const int result = isal_inflate(&state_);
    if (result < 0) throw DecodeError(result == ISAL_INCORRECT_CHECKSUM ? "the checksum differs" : "they are damaged");
    const Step step{offered - state_.avail_in, room - state_.avail_out, state_.block_state == ISAL_BLOCK_FINISH};
    if (step.frame_ended) begin_member();
    return step;
  }
  /// Tapes fill their last block with zeros, and gzip(1) ignores them.
  bool skips(std::byte next) const override { return next == std::byte{}; }

 private:
  void begin_member() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

  inflate_state state_{};
};

class ZstdDecoder : public Decoder {
 public:
  explicit ZstdDecoder(bool any_window) : context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    if (!context_) throw std::bad_alloc();
    const int most = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    if (any_window) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, most);
  }

  Step decode(std::span<const std::byte> from, std::span<std::byte> into) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) throw DecodeError(ZSTD_getErrorName(left));
    return {in.pos, out.pos, left == 0};
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
};

class Lz4Decoder : public Decoder {
 public:
  Lz4Decoder() : context_(nullptr, LZ4F_freeDecompressionContext) {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) throw std::bad_alloc();
    context_.reset(context);
  }

  Step decode(std::span<const std::byte> from, std::span<std::byte> into) override {
    std::size_t taken = from.size();
    std::size_t written = into.size();
    const std::size_t left = LZ4F_decompress(context_.get(), into.data(), &written, from.data(), &taken, nullptr);
    if (LZ4F_isError(left) != 0) throw DecodeError(LZ4F_getErrorName(left));
    return {taken, written, left == 0};
  }

 private:
  std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context_;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(Compression format, bool any_window) {
  if (format == Compression::kGzip) return std::make_unique<GzipDecoder>();
  if (format == Compression::kZstd) return std::make_unique<ZstdDecoder>(any_window);
  return std::make_unique<Lz4Decoder>();
}

}  // namespace hetsort::io
