// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/foreign.h"

#include <algorithm>
#include <array>

#include "io/format/text.h"

namespace hetsort::io {

namespace {

using namespace std::string_view_literals;

/// The first bytes of a file. A byte behind the last one is 0.
class Front {
 public:
  explicit Front(std::span<const std::byte> bytes) : text_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  unsigned at(std::size_t place) const { return place < text_.size() ? static_cast<unsigned char>(text_[place]) : 0; }
  bool has(std::size_t place, std::string_view what) const {
    return text_.size() >= place && text_.substr(place).starts_with(what);
  }
  bool is_whole(std::size_t bytes) const { return text_.size() >= bytes; }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

struct Signature {
  ForeignFormat format;
  std::size_t place;
  std::string_view bytes;
  bool (*confirm)(const Front&) = nullptr;  ///< what the format allows behind short signatures
};

// RFC 1952: three flags are reserved, and writers set few values of XFL and OS.
bool confirm_gzip(const Front& front) {
  const unsigned level = front.at(8);
  const unsigned system = front.at(9);
  return front.is_whole(10) && (front.at(3) & 0xe0) == 0 && (level == 0 || level == 2 || level == 4) &&
         (system <= 13 || system == 255);
}

// A block, or the end of an empty file.
bool confirm_bzip2(const Front& front) {
  return front.at(3) >= '1' && front.at(3) <= '9' &&
         (front.has(4, "\x31\x41\x59\x26\x53\x59") || front.has(4, "\x17\x72\x45\x38\x50\x90"));
}

bool confirm_zstd(const Front& front) { return front.is_whole(6) && (front.at(4) & 0x08) == 0; }

bool confirm_lz4(const Front& front) {
  return front.is_whole(7) && (front.at(4) & 0xc0) == 0x40 && (front.at(5) & 0x8f) == 0;
}

bool confirm_elf(const Front& front) {
  const auto is_1_or_2 = [&](std::size_t place) { return front.at(place) == 1 || front.at(place) == 2; };
  return is_1_or_2(4) && is_1_or_2(5) && front.at(6) == 1;
}

constexpr ForeignFormat kGzip{"gzip data", "gzip -dc FILE", Compression::kGzip};
constexpr ForeignFormat kZstd{"zstd data", "zstd -dc FILE", Compression::kZstd};
constexpr ForeignFormat kLz4{"lz4 data", "lz4 -dc FILE", Compression::kLz4};
constexpr ForeignFormat kZip{"a zip archive", "unzip -p FILE"};
constexpr ForeignFormat kTar{"a tar archive", "tar -xOf FILE"};
constexpr ForeignFormat kUtf16{"text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"};

constexpr std::array kSignatures{
    Signature{kGzip, 0, "\x1f\x8b\x08"sv, confirm_gzip},
    Signature{{"bzip2 data", "bzip2 -dc FILE"}, 0, "BZh"sv, confirm_bzip2},
    Signature{{"xz data", "xz -dc FILE"}, 0, "\xfd\x37zXZ\0"sv},
    Signature{kZstd, 0, "\x28\xb5\x2f\xfd"sv, confirm_zstd},
    Signature{kZstd, 0, "\x50\x2a\x4d\x18\x04\0\0\0"sv},  // as pzstd begins
    Signature{kLz4, 0, "\x04\x22\x4d\x18"sv, confirm_lz4},
    Signature{{"lzip data", "lzip -dc FILE"}, 0, "LZIP\x01"sv},
    Signature{kZip, 0, "PK\x03\x04"sv},
    Signature{kZip, 0, "PK\x05\x06\0\0\0\0"sv},  // an empty one
    Signature{{"a 7-Zip archive", "7z x -so FILE"}, 0, "7z\xbc\xaf\x27\x1c"sv},
    Signature{{"a RAR archive", "unrar p -inul FILE"}, 0, "Rar!\x1a\x07"sv},
    Signature{kTar, 257,
              "ustar\000"
              "00"sv},
    Signature{kTar, 257, "ustar  \0"sv},  // of GNU tar
    Signature{{"a Parquet file", ""}, 0, "PAR1\x15"sv},
    Signature{{"an Avro file", ""}, 0, "Obj\x01"sv},
    Signature{{"an Arrow file", ""}, 0, "ARROW1\0\0"sv},
    Signature{{"a Feather file", ""}, 0, "FEA1\0\0\0\0"sv},
    Signature{{"an HDF5 file", ""}, 0, "\x89HDF\r\n\x1a\n"sv},
    Signature{{"a NetCDF file", ""}, 0, "CDF\x01"sv},
    Signature{{"a NetCDF file", ""}, 0, "CDF\x02"sv},
    Signature{{"a NetCDF file", ""}, 0, "CDF\x05"sv},
    Signature{{"an SQLite database", "sqlite3 -csv FILE QUERY"}, 0, "SQLite format 3\0"sv},
    Signature{{"an ELF program or library", ""}, 0, "\x7f\x45LF"sv, confirm_elf},
    Signature{{"a Microsoft Office document", ""}, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv},
    Signature{{"a PDF document", "pdftotext FILE -"}, 0, "%PDF-1."sv},
    Signature{{"a PNG picture", ""}, 0, "\x89PNG\r\n\x1a\n"sv}};

}  // namespace

const ForeignFormat* foreign_format(std::span<const std::byte> bytes) {
  const Front front(bytes);
  const auto* const found = std::find_if(kSignatures.begin(), kSignatures.end(), [&](const Signature& signature) {
    return front.has(signature.place, signature.bytes) && (signature.confirm == nullptr || signature.confirm(front));
  });
  if (found != kSignatures.end()) return &found->format;
  return is_utf16(bytes) ? &kUtf16 : nullptr;
}

}  // namespace hetsort::io
