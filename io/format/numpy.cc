// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/numpy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "io/error.h"
#include "io/format/python_literal.h"

namespace hetsort::io {

namespace {

using namespace std::string_view_literals;
using Kind = PythonLiteral::Kind;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kVersionAt = 6;
constexpr std::size_t kLengthAt = 8;
constexpr std::size_t kMaxFrontBytes = kLengthAt + 4;
/// Characters that the number of elements may have, as in NumPy's own headers.
constexpr std::size_t kNumberRoom = 21;
constexpr std::size_t kHeaderUnit = 64;
/// The largest element: more is no record.
constexpr std::uint64_t kMaxElementBytes = std::uint64_t{1} << 20;

[[noreturn]] void refuse(const std::string& file, const std::string& reason) { throw Error("read", file, reason); }

[[noreturn]] void refuse_damaged(const std::string& file) {
  refuse(file, "the header of this NumPy file is damaged or of an unknown version");
}

unsigned version_of(std::span<const std::byte> header) { return std::to_integer<unsigned>(header[kVersionAt]); }

/// Where the text of a header begins; 0 if its front is cut or of an unknown version.
std::size_t text_begin(std::span<const std::byte> header) {
  if (header.size() <= kVersionAt || version_of(header) < 1 || version_of(header) > 3) return 0;
  const std::size_t begin = kLengthAt + (version_of(header) == 1 ? 2 : 4);
  return header.size() < begin ? 0 : begin;
}

/// The length of the text. Requires: text_begin() > 0.
std::size_t text_bytes(std::span<const std::byte> header) {
  std::size_t length = 0;
  for (std::size_t at = text_begin(header) - 1; at >= kLengthAt; --at)
    length = length << 8 | std::to_integer<unsigned>(header[at]);
  return length;
}

/// Converts to UTF-8, in which headers are since version 3.
std::string from_latin_1(std::string_view text) {
  std::string utf_8;
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    if (c >= 0x80) utf_8 += static_cast<char>(0xc0 | c >> 6);
    utf_8 += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3f));
  }
  return utf_8;
}

/// Types from the description in a header.
class TypeReader {
 public:
  explicit TypeReader(const std::string& file) : file_(file) {}

  NumpyType read(const PythonLiteral& described) const {
    NumpyType type;
    type.text = described.source;
    if (described.is(Kind::kText))
      read_plain(described.text, type);
    else if (described.is(Kind::kSequence) && is_array(described))
      type = read_array(described.items[0], described.items[1]);
    else if (described.is(Kind::kSequence) && !described.items.empty())
      read_fields(described, type);
    else
      refuse_type(type);
    return type;
  }

 private:
  /// A type with the shape of an array, as in ('<f4', (3,)).
  static bool is_array(const PythonLiteral& described) {
    return described.items.size() == 2 && described.items[0].is(Kind::kText) && !described.items[1].is(Kind::kText);
  }

  NumpyType read_array(const PythonLiteral& described, const PythonLiteral& shape) const {
    NumpyType type = read(described);
    std::span<const PythonLiteral> lengths(&shape, 1);
    if (shape.is(Kind::kSequence)) lengths = shape.items;
    for (const PythonLiteral& length : lengths) {
      if (!length.is(Kind::kNumber)) refuse_type(type);
      if (length.number > kMaxElementBytes) refuse_size();
      type.count *= length.number;
      if (type.bytes() > kMaxElementBytes || type.count > kMaxElementBytes) refuse_size();
    }
    return type;
  }

  void read_fields(const PythonLiteral& described, NumpyType& type) const {
    type.kind = 'r';
    for (const PythonLiteral& field : described.items) {
      if (!field.is(Kind::kSequence) || field.items.size() < 2 || field.items.size() > 3) refuse_type(type);
      NumpyType& read_field = type.fields.emplace_back(
          field.items.size() == 3 ? read_array(field.items[1], field.items[2]) : read(field.items[1]));
      // A pair is a title and a name.
      const PythonLiteral* name = &field.items[0];
      if (name->is(Kind::kSequence) && name->items.size() == 2) name = &name->items[1];
      if (!name->is(Kind::kText)) refuse_type(type);
      read_field.name = name->text;
      read_field.offset = type.value_bytes;
      type.value_bytes += read_field.bytes();
      if (type.value_bytes > kMaxElementBytes) refuse_size();
    }
  }

  /// Reads a type such as "<f8" or "<M8[ns]".
  void read_plain(std::string_view text, NumpyType& type) const {
    constexpr std::string_view kKinds = "biufcmMSUVO";
    const bool has_order = !text.empty() && "<>|="sv.find(text[0]) != std::string_view::npos;
    type.big_endian = has_order && text[0] == '>';
    if (has_order) text.remove_prefix(1);
    if (text.empty() || kKinds.find(text[0]) == std::string_view::npos) refuse_type(type);
    type.kind = text[0];
    text.remove_prefix(1);
    const bool has_unit = type.kind == 'm' || type.kind == 'M';
    const std::string_view digits = text.substr(0, has_unit ? text.find('[') : std::string_view::npos);
    const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), type.value_bytes);
    const bool is_object = type.kind == 'O' && digits.empty();
    if (!is_object && (status != std::errc{} || stop != digits.data() + digits.size())) refuse_type(type);
    if (type.value_bytes > kMaxElementBytes) refuse_size();
    if (type.kind == 'U') type.value_bytes *= 4;
    if (is_object) type.value_bytes = sizeof(void*);
  }

  [[noreturn]] void refuse_type(const NumpyType& type) const {
    refuse(file_, "the type " + type.text + " of this NumPy file is unknown");
  }
  [[noreturn]] void refuse_size() const {
    refuse(file_, "an element of this NumPy file has more than " + std::to_string(kMaxElementBytes) + " bytes");
  }

  const std::string& file_;
};

/// The number of elements in a shape of one dimension.
std::uint64_t elements_in(const PythonLiteral& shape, bool fortran_order, const std::string& file) {
  if (!shape.is(Kind::kSequence) ||
      !std::ranges::all_of(shape.items, [](const auto& length) { return length.is(Kind::kNumber); }))
    refuse_damaged(file);
  if (shape.items.size() != 1)
    refuse(file, "this NumPy file holds an array of " + std::to_string(shape.items.size()) + " dimensions" +
                     (fortran_order ? " in Fortran order" : "") + "; an array of one dimension can be sorted");
  return shape.items.front().number;
}

/// Checks that the file ends behind its last element.
void check_length(const File& file, const NumpyHeader& header) {
  const std::uint64_t size = file.status().size_bytes;
  const std::uint64_t bytes = header.type.bytes();
  const std::uint64_t behind = size - std::min(size, header.header_bytes);
  if (size >= header.header_bytes && behind % bytes == 0 && behind / bytes == header.elements) return;
  refuse(file.name(), "its header promises " + std::to_string(header.elements) + " elements of " +
                          std::to_string(bytes) + " bytes behind " + std::to_string(header.header_bytes) +
                          " bytes, but the file has " + std::to_string(size) + " bytes");
}

}  // namespace

bool NumpyType::has_objects() const {
  return kind == 'O' || std::ranges::any_of(fields, [](const NumpyType& field) { return field.has_objects(); });
}

bool NumpyType::is_like(const NumpyType& other) const {
  return kind == other.kind && value_bytes == other.value_bytes && count == other.count && name == other.name &&
         (big_endian == other.big_endian || value_bytes == 1) &&
         std::ranges::equal(fields, other.fields,
                            [](const NumpyType& one, const NumpyType& two) { return one.is_like(two); }) &&
         ((kind != 'm' && kind != 'M') || text == other.text);
}

bool is_numpy(std::span<const std::byte> front) {
  return front.size() >= kMagic.size() && std::memcmp(front.data(), kMagic.data(), kMagic.size()) == 0;
}

NumpyType numpy_type(const std::string& description, unsigned version, const std::string& file) {
  const std::string utf_8 = version < 3 ? from_latin_1(description) : description;
  const std::optional<PythonLiteral> described = parse_python_literal(utf_8);
  if (!described) refuse_damaged(file);
  NumpyType type = TypeReader(file).read(*described);
  if (type.has_objects()) refuse(file, "this NumPy file holds objects of Python, which cannot be sorted as bytes");
  if (type.bytes() == 0) refuse(file, "the elements of this NumPy file have no bytes");
  return type;
}

NumpyHeader parse_numpy_header(std::span<const std::byte> header, const std::string& name) {
  const std::size_t begin = text_begin(header);
  if (begin == 0 || header.size() != begin + text_bytes(header)) refuse_damaged(name);
  const std::span<const std::byte> text = header.subspan(begin);
  const std::optional<PythonLiteral> dictionary =
      parse_python_literal({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!dictionary || !dictionary->is(Kind::kDictionary)) refuse_damaged(name);
  const PythonLiteral* const described = dictionary->find("descr");
  const PythonLiteral* const fortran_order = dictionary->find("fortran_order");
  const PythonLiteral* const shape = dictionary->find("shape");
  if (described == nullptr || fortran_order == nullptr || shape == nullptr) refuse_damaged(name);
  NumpyHeader parsed{
      .header_bytes = header.size(), .description = std::string(described->source), .version = version_of(header)};
  parsed.type = numpy_type(parsed.description, parsed.version, name);
  parsed.elements = elements_in(*shape, fortran_order->text == "True", name);
  return parsed;
}

std::optional<NumpyHeader> read_numpy_header(const File& file) {
  std::vector<std::byte> bytes(kMaxFrontBytes);
  bytes.resize(file.read_at(bytes, 0));
  if (!is_numpy(bytes)) return std::nullopt;
  const std::size_t begin = text_begin(bytes);
  if (begin == 0 || text_bytes(bytes) > kMaxNumpyHeaderBytes) refuse_damaged(file.name());
  bytes.resize(begin + text_bytes(bytes));
  bytes.resize(file.read_at(bytes, 0));
  const NumpyHeader header = parse_numpy_header(bytes, file.name());
  check_length(file, header);
  return header;
}

std::vector<std::byte> make_numpy_header(const NumpyHeader& like, std::uint64_t elements) {
  const std::string number = std::to_string(elements);
  std::string text = "{'descr': " + like.description + ", 'fortran_order': False, 'shape': (" + number + ",), }";
  text.append(kNumberRoom - number.size(), ' ');
  constexpr std::size_t kMaxOfVersion1 = 0xffff;
  const auto padded = [&](std::size_t before) {
    return (before + text.size() + 1 + kHeaderUnit - 1) / kHeaderUnit * kHeaderUnit - before;
  };
  unsigned version = like.version;
  if (version < 3) version = padded(kLengthAt + 2) > kMaxOfVersion1 ? 2 : 1;
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t length = padded(kLengthAt + length_bytes);
  text.append(length - 1 - text.size(), ' ');
  std::string header(kMagic);
  header += static_cast<char>(version);
  header += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) header += static_cast<char>(length >> (8 * i));
  header += text + '\n';
  const auto bytes = std::as_bytes(std::span(header));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> renumber_numpy_header(std::span<const std::byte> header, std::uint64_t elements) {
  return make_numpy_header(parse_numpy_header(header, "the header of the output"), elements);
}

}  // namespace hetsort::io
