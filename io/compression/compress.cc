// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/compress.h"

// The functions that say what a context takes are declared only for those who define this.
#define ZSTD_STATIC_LINKING_ONLY
#include <lz4frame.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "io/compression/gzip_blocks.h"
#include "io/compression/side_threads.h"
#include "io/file.h"

namespace hetsort::io {

namespace {

constexpr std::size_t kFrameBytes = std::size_t{1} << 20;
constexpr std::size_t kMostThreads = 8;  // more are faster than any output
// Bytes of a frame that a thread compresses, of the next one, and of what the first becomes.
constexpr std::uint64_t kThreadBytes = 3 * kFrameBytes;
// More than what a context of gzip or lz4 takes.
constexpr std::uint64_t kSmallContextBytes = std::uint64_t{512} << 10;

using Bytes = std::vector<std::byte>;

void encode_zstd(std::span<const std::byte> from, int level, Bytes& into) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  into.resize(ZSTD_compressBound(from.size()));
  const std::size_t size = ZSTD_compress2(context.get(), into.data(), into.size(), from.data(), from.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error(ZSTD_getErrorName(size));
  into.resize(size);
}

void encode_lz4(std::span<const std::byte> from, int level, Bytes& into) {
  LZ4F_preferences_t wanted{};
  wanted.compressionLevel = level;
  wanted.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  wanted.frameInfo.blockSizeID = LZ4F_max1MB;
  wanted.frameInfo.contentSize = from.size();
  into.resize(LZ4F_compressFrameBound(from.size(), &wanted));
  const std::size_t size = LZ4F_compressFrame(into.data(), into.size(), from.data(), from.size(), &wanted);
  if (LZ4F_isError(size) != 0) throw std::runtime_error(LZ4F_getErrorName(size));
  into.resize(size);
}

Bytes encode(std::span<const std::byte> from, const CompressionLevel& how) {
  Bytes into;
  if (how.format == Compression::kGzip) encode_gzip_blocks(from, how.level, into);
  if (how.format == Compression::kZstd) encode_zstd(from, how.level, into);
  if (how.format == Compression::kLz4) encode_lz4(from, how.level, into);
  return into;
}

class Compressor : public WriteFilter {
 public:
  Compressor(const CompressionLevel& how, std::size_t threads) : how_(how), frames_(threads) {}
  ~Compressor() override {
    if (busy_.joinable()) busy_.join();
  }

  void write(const File& file, std::span<const std::byte> from) override {
    while (!from.empty()) {
      if (filling_.empty() || filling_.back().size() == kFrameBytes) begin_frame(file);
      Bytes& frame = filling_.back();
      const std::size_t bytes = std::min(from.size(), kFrameBytes - frame.size());
      frame.insert(frame.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(bytes));
      from = from.subspan(bytes);
    }
  }

  void finish(const File& file) override {
    // A file without any frame is damaged to those who read it.
    if (filling_.empty() && how_.format != Compression::kGzip && !wrote_) filling_.emplace_back();
    start(file);
    wait();
    Bytes end;
    if (how_.format == Compression::kGzip) end_gzip_blocks(end);
    file.write_plain(end);
  }

 private:
  void begin_frame(const File& file) {
    if (filling_.size() == frames_) start(file);
    filling_.emplace_back().reserve(kFrameBytes);
  }

  /// Compresses and writes what is filled, in the background.
  void start(const File& file) {
    wait();
    std::swap(filling_, compressing_);
    filling_.clear();
    wrote_ = true;
    try {
      busy_ = start_thread("compresses the output", [this, &file] { compress(file); });
    } catch (const Error&) {
      compress(file);
    }
  }

  void compress(const File& file) {
    try {
      run_beside(compressing_.size(), [this](std::size_t worker, std::size_t) {
        compressing_[worker] = encode(compressing_[worker], how_);
      });
      for (const Bytes& frame : compressing_) file.write_plain(frame);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void wait() {
    if (busy_.joinable()) busy_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  CompressionLevel how_;
  std::size_t frames_;  // of a batch
  std::vector<Bytes> filling_;
  std::vector<Bytes> compressing_;
  bool wrote_ = false;
  std::exception_ptr failure_;
  std::thread busy_;  // declared last, because it uses the other members
};

/// With the level that 0 stands for.
CompressionLevel chosen(CompressionLevel how) {
  if (how.level == 0) how.level = how.format == Compression::kZstd ? 3 : 1;
  return how;
}

std::uint64_t context_bytes(const CompressionLevel& how) {
  if (how.format != Compression::kZstd) return kSmallContextBytes;
  return ZSTD_estimateCCtxSize_usingCParams(ZSTD_getCParams(chosen(how).level, kFrameBytes, 0));
}

}  // namespace

LevelRange levels_of(Compression format) {
  if (format == Compression::kGzip) return {1, 3};
  return {1, format == Compression::kZstd ? 19 : 12};
}

std::uint64_t compressor_bytes(const CompressionLevel& level, std::size_t threads) {
  return level.format == Compression::kNone ? 0 : threads * (kThreadBytes + context_bytes(level));
}

std::size_t threads_that_compress(const CompressionLevel& level, std::size_t threads, std::uint64_t bytes) {
  std::size_t most = std::clamp<std::size_t>(threads, 1, kMostThreads);
  while (most > 1 && compressor_bytes(level, most) > bytes) --most;
  return most;
}

std::unique_ptr<WriteFilter> make_compressor(const CompressionLevel& level, std::size_t threads) {
  assert(level.format != Compression::kNone && threads > 0);
  return std::make_unique<Compressor>(chosen(level), threads);
}

}  // namespace hetsort::io
