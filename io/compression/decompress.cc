// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/compression/decompress.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/compression/decoder.h"
#include "io/compression/gzip_blocks.h"
#include "io/error.h"
#include "io/file_system.h"
#include "io/format/foreign.h"
#include "io/stream_filter.h"

namespace hetsort::io {

namespace {

/// Bytes that show the format and what decoding takes, also behind a short frame that is skipped, as pzstd writes it.
constexpr std::size_t kSeenBytes = 64;

std::size_t move_bytes(std::span<const std::byte> from, std::span<std::byte> into) {
  const std::size_t bytes = std::min(from.size(), into.size());
  std::copy_n(from.begin(), bytes, into.begin());
  return bytes;
}

/// Whether a frame, or a member of gzip, may begin like this. Zstd and lz4 also have frames that are skipped.
bool may_begin_frame(Compression format, std::span<const std::byte> front) {
  const auto begins = [front](std::span<const std::uint8_t> signature, std::uint8_t mask) {
    for (std::size_t i = 0; i < std::min(front.size(), signature.size()); ++i)
      if ((std::to_integer<std::uint8_t>(front[i]) & (i == 0 ? mask : 0xff)) != signature[i]) return false;
    return true;
  };
  constexpr std::array<std::uint8_t, 2> kGzip{0x1f, 0x8b};
  constexpr std::array<std::uint8_t, 4> kZstd{0x28, 0xb5, 0x2f, 0xfd};
  constexpr std::array<std::uint8_t, 4> kLz4{0x04, 0x22, 0x4d, 0x18};
  constexpr std::array<std::uint8_t, 4> kSkipped{0x50, 0x2a, 0x4d, 0x18};
  if (format == Compression::kGzip) return begins(kGzip, 0xff);
  return begins(kSkipped, 0xf0) || (format == Compression::kZstd ? begins(kZstd, 0xff) : begins(kLz4, 0xff));
}

/// Returns the first bytes, which were read before, and then the others.
class WholeStream : public ReadFilter {
 public:
  explicit WholeStream(std::vector<std::byte> front) : front_(std::move(front)) {}

  std::size_t read(const File& file, std::span<std::byte> into) override {
    const std::size_t moved = move_bytes(std::span(front_).subspan(at_), into);
    at_ += moved;
    return moved + (moved < into.size() ? file.read_plain(into.subspan(moved)) : 0);
  }

 private:
  std::vector<std::byte> front_;
  std::size_t at_ = 0;
};

class Decompressed : public ReadFilter {
 public:
  Decompressed(Compression format, std::vector<std::byte> front, unsigned threads,
               std::shared_ptr<DecoderMemory> memory)
      : format_(format),
        decoder_(make_decoder(format, memory != nullptr)),
        threads_(threads),
        memory_(std::move(memory)),
        bytes_(std::move(front)) {}
  Decompressed(const Decompressed&) = delete;
  Decompressed& operator=(const Decompressed&) = delete;
  ~Decompressed() override {
    if (memory_) memory_->give_back(memory_bytes_);
  }

  std::size_t read(const File& file, std::span<std::byte> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const std::size_t moved = move_bytes(std::span(held_).subspan(held_at_), into.subspan(filled));
      filled += moved;
      held_at_ += moved;
      if (moved > 0) continue;
      if (!in_frame_ && !begin_frame(file)) break;
      if (in_frame_) filled += decode(file, into.subspan(filled));
    }
    return filled;
  }

 private:
  std::span<const std::byte> rest() const { return std::span(bytes_).subspan(at_); }
  void take(std::size_t bytes) {
    at_ += bytes;
    offset_ += bytes;
  }

  /// Reads more bytes behind those that were not taken yet. Returns whether there were some.
  bool read_more(const File& file) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    const std::size_t kept = bytes_.size();
    bytes_.resize(std::max(kCompressedReadBytes, kept + kCompressedReadBytes / 2));
    const std::size_t got = file.read_plain(std::span(bytes_).subspan(kept));
    bytes_.resize(kept + got);
    return got > 0;
  }

  /// Goes to the next frame, or decodes the next blocks. Returns false at the end.
  bool begin_frame(const File& file) {
    while (true) {
      while (!rest().empty() && decoder_->skips(rest().front())) take(1);
      if (rest().size() < kMaxFrameHeaderBytes && read_more(file)) continue;
      if (rest().empty()) return false;
      break;
    }
    if (!may_begin_frame(format_, rest())) refuse(file, "other data follow");
    take_memory(file);
    const auto block = format_ == Compression::kGzip ? gzip_block_bytes(rest()) : std::nullopt;
    in_frame_ = !block;
    if (!block) return true;
    if (*block > rest().size()) read_more(file);
    if (*block > rest().size()) refuse_end(file);
    held_at_ = 0;
    guarded(file, [&] { take(decode_gzip_blocks(rest(), threads_, held_)); });
    return true;
  }

  /// Takes the memory that decoding the next frame takes. The decoder keeps what it had for the frames before.
  void take_memory(const File& file) {
    const std::uint64_t needed = decoder_bytes(format_, rest().first(std::min(rest().size(), kMaxFrameHeaderBytes)));
    if (!memory_ || needed <= memory_bytes_) return;
    if (!memory_->take(needed - memory_bytes_))
      refuse(file, "decompressing this frame takes " + human_size(needed) + " of memory, and only " +
                       human_size(memory_->allowed()) + " are planned, as the inputs begin: decompress it first");
    memory_bytes_ = needed;
  }

  std::size_t decode(const File& file, std::span<std::byte> into) {
    Decoder::Step step;
    guarded(file, [&] { step = decoder_->decode(rest(), into); });
    take(step.taken);
    if (step.frame_ended) in_frame_ = false;
    if (!step.frame_ended && step.taken == 0 && step.written == 0 && !read_more(file)) refuse_end(file);
    return step.written;
  }

  template <typename Work>
  void guarded(const File& file, const Work& work) {
    try {
      work();
    } catch (const DecodeError& error) {
      refuse(file, error.what());
    }
  }
  [[noreturn]] void refuse(const File& file, const std::string& reason) const {
    throw Error("decompress", file.name(),
                std::string(name_of(format_)) + " data at offset " + std::to_string(offset_) + ": " + reason);
  }
  [[noreturn]] void refuse_end(const File& file) {
    take(rest().size());
    refuse(file, "the file ends before the data do");
  }

  Compression format_;
  std::unique_ptr<Decoder> decoder_;
  unsigned threads_;
  std::shared_ptr<DecoderMemory> memory_;
  std::uint64_t memory_bytes_ = 0;  // taken from memory_
  std::vector<std::byte> bytes_;    // compressed; those before at_ are taken
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;  // of the byte at at_ in the file
  bool in_frame_ = false;
  std::vector<std::byte> held_{};  // what the last blocks hold; those before held_at_ were read
  std::size_t held_at_ = 0;
};

}  // namespace

Compression compression_of(std::span<const std::byte> front) {
  const ForeignFormat* const format = foreign_format(front);
  return format == nullptr ? Compression::kNone : format->compression;
}

std::uint64_t decompress_stream(File& file, unsigned threads, std::shared_ptr<DecoderMemory> memory) {
  std::vector<std::byte> front(kSeenBytes);
  front.resize(file.read_plain(front));
  const Compression format = compression_of(front);
  const std::uint64_t needed = decoder_bytes(format, front);
  if (format == Compression::kNone)
    file.read_through(std::make_unique<WholeStream>(std::move(front)));
  else
    file.read_through(std::make_unique<Decompressed>(format, std::move(front), threads, std::move(memory)));
  return needed;
}

}  // namespace hetsort::io
