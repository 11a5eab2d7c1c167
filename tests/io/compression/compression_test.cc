// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "io/compression/compress.h"
#include "io/compression/decompress.h"
#include "io/file.h"
#include "tests/io/scratch.h"
#include "tests/seeds.h"

namespace hetsort::io::test {
namespace {

using hetsort::test::seed_note;
using hetsort::test::test_seed;

std::span<const std::byte> text_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string some_text(std::size_t bytes, std::mt19937_64& random) {
  std::string text(bytes, 'a');
  const unsigned kinds = 1 + static_cast<unsigned>(random() % 256);
  for (char& one : text) one = static_cast<char>(random() % kinds);
  return text;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// The compressed form of a text that is written in random pieces.
std::string compressed(const std::string& path, const std::string& text, const CompressionLevel& how,
                       std::mt19937_64& random) {
  File file = File::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600, "create");
  file.write_through(make_compressor(how, 1 + static_cast<unsigned>(random() % 4)));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::min<std::size_t>(text.size() - at, 1 + random() % 1'500'000);
    file.write(text_bytes(text).subspan(at, bytes));
    at += bytes;
  }
  file.finish_writing();
  file.close();
  return content_of(path);
}

/// What a file holds, read in random pieces. Throws: Error.
std::string decompressed(const std::string& path, std::mt19937_64& random) {
  File file = File::open_read(path);
  decompress_stream(file, 1 + static_cast<unsigned>(random() % 3));
  std::string text;
  std::vector<std::byte> piece;
  do {
    piece.resize(1 + random() % 300'000);
    const std::size_t wanted = piece.size();
    piece.resize(file.read(piece));
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (piece.size() < wanted) break;
  } while (true);
  return text;
}

class CompressionOf : public testing::TestWithParam<std::string> {
 protected:
  Compression format() const { return compression_of_name("a." + GetParam()); }
  std::string path() const { return scratch_ / "file"; }
  std::mt19937_64 random_{test_seed()};

 private:
  Scratch scratch_;
};

TEST_P(CompressionOf, returns_what_it_got) {
  SCOPED_TRACE(seed_note());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65'280}, std::size_t{1} << 20,
                                  std::size_t{3'500'000} + random_() % 1'000'000}) {
    const auto [least, most] = levels_of(format());
    for (const int level : {0, least, std::min(most, 9)}) {
      if (hetsort::test::kSeeksRaces && level != 0) continue;
      const std::string text = some_text(bytes, random_);
      const std::string form = compressed(path(), text, {format(), level}, random_);
      EXPECT_EQ(compression_of(text_bytes(form)), format());
      EXPECT_TRUE(decompressed(path(), random_) == text) << bytes << " bytes, level " << level;
      write_file(path(), form + form);
      EXPECT_TRUE(decompressed(path(), random_) == text + text) << bytes << " bytes, level " << level;
    }
  }
}

TEST_P(CompressionOf, finds_every_end_that_is_missing) {
  SCOPED_TRACE(seed_note());
  const std::string form = compressed(path(), some_text(200'000, random_), {format()}, random_);
  for (int i = 0; i < 30; ++i) {
    const std::size_t left = i == 0 ? form.size() - 1 : 20 + random_() % (form.size() - 20);
    write_file(path(), form.substr(0, left));
    // Behind a whole block of gzip data there may be no other.
    std::string found;
    try {
      found = decompressed(path(), random_);
      EXPECT_EQ(format(), Compression::kGzip) << left;
      EXPECT_EQ(found.size() % 65'280, 0) << left;
    } catch (const Error& error) {
      EXPECT_EQ(error.operation(), "decompress");
      EXPECT_NE(std::string(error.what()).find("at offset " + std::to_string(left)), std::string::npos) << error.what();
    }
  }
}

TEST_P(CompressionOf, refuses_other_bytes_behind_the_data) {
  SCOPED_TRACE(seed_note());
  const std::string form = compressed(path(), some_text(200'000, random_), {format()}, random_);
  for (const std::string other : {"x", "garbage", "garbage that is longer than the header of a block of bgzip"}) {
    write_file(path(), form + other);
    try {
      decompressed(path(), random_);
      ADD_FAILURE() << "accepted " << other;
    } catch (const Error& error) {
      EXPECT_NE(
          std::string(error.what()).find(" data at offset " + std::to_string(form.size()) + ": other data follow"),
          std::string::npos)
          << error.what();
    }
  }
}

TEST_P(CompressionOf, accepts_frames_that_are_skipped) {
  SCOPED_TRACE(seed_note());
  if (format() == Compression::kGzip) return;
  const std::string text = some_text(200'000, random_);
  const std::string form = compressed(path(), text, {format()}, random_);
  write_file(path(), form + std::string("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11) + form);
  EXPECT_TRUE(decompressed(path(), random_) == text + text);
}

TEST_P(CompressionOf, finds_bytes_that_changed) {
  SCOPED_TRACE(seed_note());
  const std::string text = some_text(150'000, random_);
  const std::string form = compressed(path(), text, {format()}, random_);
  for (int i = 0; i < 200; ++i) {
    std::string other = form;
    const std::size_t changes = 1 + random_() % 3;
    for (std::size_t change = 0; change < changes; ++change) {
      const std::size_t at = 10 + random_() % (other.size() - 10);
      if (random_() % 4 == 0)
        other.erase(at, 1 + random_() % 50);
      else
        other[at] = static_cast<char>(random_());
    }
    write_file(path(), other);
    try {
      EXPECT_TRUE(decompressed(path(), random_) == text) << "round " << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.operation(), "decompress");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressionOf, testing::Values("gz", "zst", "lz4"),
                         [](const auto& format) { return format.param; });

TEST(Compression, leaves_other_streams_as_they_are) {
  Scratch scratch;
  std::mt19937_64 random(test_seed());
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("no compressed data\n"), "\x1f" + some_text(100'000, random)}) {
    write_file(scratch / "file", text);
    EXPECT_TRUE(decompressed(scratch / "file", random) == text);
  }
}

TEST(Compression, as_many_threads_compress_as_have_room) {
  const auto threads = [](Compression format, int level, std::uint64_t bytes) {
    return threads_that_compress({format, level}, 16, bytes);
  };
  for (const CompressionName& known : kCompressions)
    EXPECT_EQ(threads(known.format, 0, kFreeCompressorBytes), 8U) << known.name;
  for (const int level : {5, 9, 13, 19}) {
    const std::size_t few = threads(Compression::kZstd, level, kFreeCompressorBytes);
    EXPECT_LE(compressor_bytes({Compression::kZstd, level}, few), kFreeCompressorBytes);
    EXPECT_GT(compressor_bytes({Compression::kZstd, level}, few + 1), kFreeCompressorBytes);
    EXPECT_EQ(threads(Compression::kZstd, level, compressor_bytes({Compression::kZstd, level}, 8)), 8U);
    EXPECT_EQ(threads(Compression::kZstd, level, 0), 1U);
  }
  EXPECT_EQ(compressor_bytes({}, 8), 0U);
}

TEST(Compression, memory_for_windows_is_what_headers_say) {
  // Frames of zstd whose headers say a window of 128 MiB: of unknown size, and of 256 bytes.
  const std::string wide("\x28\xb5\x2f\xfd\x00\x88", 6);
  const std::string few("\x28\xb5\x2f\xfd\x40\x88\x00\x00", 8);
  const std::string skipped("\x50\x2a\x4d\x18\x04\x00\x00\x00\x01\x02\x03\x04", 12);
  const auto needed = [](const std::string& front, Compression format = Compression::kZstd) {
    return decoder_bytes(format, text_bytes(front));
  };
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  EXPECT_GT(needed(wide), 128 * kMiB);
  EXPECT_LT(needed(wide), 131 * kMiB);
  EXPECT_LT(needed(few), 2 * kMiB);
  EXPECT_EQ(needed(skipped + skipped + wide), needed(wide));
  EXPECT_EQ(needed(skipped), needed(few.substr(0, 3)));
  EXPECT_GT(needed(std::string("\x04\x22\x4d\x18\x60\x70\x73", 7), Compression::kLz4), 8 * kMiB);
  EXPECT_LE(needed(std::string("\x04\x22\x4d\x18\x60\x70\x73", 7), Compression::kLz4), kFreeDecoderBytes);
  EXPECT_EQ(needed(wide, Compression::kNone), 0U);

  EXPECT_EQ(memory_beside_decoders({5}, kFreeDecoderBytes, "in"), 5U);
  EXPECT_EQ(memory_beside_decoders({30 * kMiB}, kFreeDecoderBytes + 10 * kMiB, "in"), 20 * kMiB);
  EXPECT_EQ(memory_beside_decoders({11 * kMiB}, kFreeDecoderBytes + 10 * kMiB, "in"), kMiB);
  const std::string refused =
      message_of<Error>([] { memory_beside_decoders({11 * kMiB - 1}, kFreeDecoderBytes + 10 * kMiB, "in"); });
  EXPECT_NE(refused.find("give 'memory' 11M or more"), std::string::npos) << refused;
}

TEST(Compression, follows_from_names) {
  EXPECT_EQ(compression_of_name("a.gz"), Compression::kGzip);
  EXPECT_EQ(compression_of_name("a.vcf.bgz"), Compression::kGzip);
  EXPECT_EQ(compression_of_name("a.zst"), Compression::kZstd);
  EXPECT_EQ(compression_of_name("a.lz4"), Compression::kLz4);
  EXPECT_EQ(compression_of_name("a.gz.txt"), Compression::kNone);
  EXPECT_EQ(compression_of_name("-"), Compression::kNone);
}

}  // namespace
}  // namespace hetsort::io::test
