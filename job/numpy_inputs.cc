// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/numpy_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "io/error.h"
#include "io/field.h"
#include "io/file.h"
#include "job/options/record_options.h"
#include "job/request/request_error.h"
#include "sort/input/rank_path.h"

namespace hetsort::job {

namespace {

using sort::KeyField;
using sort::KeyKind;

[[noreturn]] void refuse(const std::string& file, const std::string& reason) {
  throw RequestError(fmt::format("read {}: {}", file, reason));
}

/// The keys of values of one type.
class KeyMaker {
 public:
  KeyMaker(const std::string& file, std::vector<KeyField>& keys) : file_(file), keys_(keys) {}

  void add(const io::NumpyType& type, std::uint64_t offset, bool descending) {
    for (std::uint64_t i = 0; i < type.count; ++i, offset += type.value_bytes) add_value(type, offset, descending);
  }

 private:
  void add_value(const io::NumpyType& type, std::uint64_t offset, bool descending) {
    const auto one = [&](std::uint64_t at, std::uint64_t bytes, KeyKind kind) {
      add_key({static_cast<std::uint32_t>(offset + at), static_cast<std::uint16_t>(bytes), kind, type.big_endian,
               descending});
    };
    const std::uint64_t bytes = type.value_bytes;
    const bool is_number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    switch (type.kind) {
      case 'r':
        for (const io::NumpyType& field : type.fields)
          if (!field.name.empty()) add(field, offset + field.offset, descending);
        return;
      case 'S':
      case 'V':
        if (bytes > sort::kMaxKeyBytes) refuse_key(type);
        return one(0, bytes, KeyKind::kBytes);
      case 'U':
        for (std::uint64_t at = 0; at < bytes; at += 4) one(at, 4, KeyKind::kUnsigned);
        return;
      case 'c':
        if (bytes != 8 && bytes != 16) refuse_key(type);
        one(0, bytes / 2, KeyKind::kFloat);
        return one(bytes / 2, bytes / 2, KeyKind::kFloat);
      case 'f':
        if (!is_number || bytes == 1) refuse_key(type);
        return one(0, bytes, KeyKind::kFloat);
      default:
        if (!is_number) refuse_key(type);
        return one(0, bytes, type.kind == 'u' || type.kind == 'b' ? KeyKind::kUnsigned : KeyKind::kSigned);
    }
  }

  void add_key(const KeyField& key) {
    if (key.bytes == 0) return;
    if (keys_.size() == sort::kMaxKeyFields)
      refuse(file_,
             fmt::format("its elements have more than {} keys: each number counts, each element of an array, each "
                         "part of a complex number, and each character of a text; {} can name fewer fields",
                         sort::kMaxKeyFields, io::field("key")));
    keys_.push_back(key);
  }
  [[noreturn]] void refuse_key(const io::NumpyType& type) const {
    refuse(file_, fmt::format("values of type {} cannot be keys{}", type.text,
                              type.name.empty()
                                  ? ""
                                  : fmt::format("; {} can name other fields than '{}'", io::field("key"), type.name)));
  }

  const std::string& file_;
  std::vector<KeyField>& keys_;
};

const io::NumpyType* find_field(const io::NumpyType& type, std::string_view name) {
  const auto found = std::ranges::find_if(
      type.fields, [&](const io::NumpyType& field) { return !name.empty() && field.name == name; });
  return found == type.fields.end() ? nullptr : &*found;
}

std::string field_names(const io::NumpyType& type) {
  std::string names;
  for (const io::NumpyType& field : type.fields)
    if (!field.name.empty()) names += (names.empty() ? "" : ", ") + field.name;
  return names;
}

/// Adds the keys of a field that is named, perhaps with its direction behind it. The whole text may be a name.
void add_named(const io::NumpyType& type, const std::string& text, KeyMaker& keys, const std::string& file) {
  const std::size_t colon = text.rfind(':');
  const std::string_view direction = colon == std::string::npos ? "" : std::string_view(text).substr(colon);
  const bool is_directed = direction == ":desc" || direction == ":asc";
  if (const io::NumpyType* const field = find_field(type, text)) return keys.add(*field, field->offset, false);
  if (is_directed)
    if (const io::NumpyType* const field = find_field(type, std::string_view(text).substr(0, colon)))
      return keys.add(*field, field->offset, direction == ":desc");
  if (type.fields.empty())
    refuse(file, fmt::format("{} '{}': its elements have no fields, but the type {}; each is its own key",
                             io::field("key"), text, type.text));
  refuse(file, fmt::format("{} '{}' names no field; the fields are {}", io::field("key"), text, field_names(type)));
}

/// Whether a file begins like a NumPy file. One that cannot be read is reported by the work itself, which first checks
/// what else could fail.
bool is_numpy_file(const std::string& path) {
  try {
    if (path == "-" || io::kind_at(path) != io::FileKind::kRegular) return false;
    std::array<std::byte, 8> front{};
    return io::is_numpy(std::span(front).first(io::File::open_read(path).read_at(front, 0)));
  } catch (const io::Error&) {
    return false;
  }
}

/// The header of no elements of the type that a file has. Empty if it is a stream, or no NumPy file.
comm::Bytes header_at(const std::string& path) {
  if (!is_numpy_file(path)) return {};
  const std::optional<io::NumpyHeader> header = io::read_numpy_header(io::File::open_read(path));
  return header ? io::make_numpy_header(*header, 0) : comm::Bytes{};
}

sort::RecordLayout layout_of(const io::NumpyType& type, const RecordRequest& request, const std::string& file) {
  if (!request.keys.empty() && !request.key_names.empty())
    throw RequestError(fmt::format("{} '{}' names a field and another {} a place; all must do the same",
                                   io::field("key"), request.key_names.front(), io::field("key")));
  RecordRequest described = request;
  described.record_bytes = type.bytes();
  described.key_names.clear();
  if (request.keys.empty()) described.keys = numpy_keys(type, request.key_names, file);
  return layout_of(described);
}

}  // namespace

std::vector<KeyField> numpy_keys(const io::NumpyType& type, const std::vector<std::string>& names,
                                 const std::string& file) {
  std::vector<KeyField> keys;
  KeyMaker maker(file, keys);
  for (const std::string& name : names) add_named(type, name, maker, file);
  if (names.empty()) maker.add(type, 0, false);
  if (keys.empty()) refuse(file, fmt::format("elements of type {} have no bytes that can be keys", type.text));
  return keys;
}

sort::RecordLayout layout_without_names(RecordRequest request) {
  request.key_names.clear();
  return layout_of(request);
}

std::optional<NumpyInputs> numpy_inputs(const std::vector<std::string>& paths, const RecordRequest& request,
                                        comm::Communicator& ranks) {
  const bool is_described = request.record_bytes || request.header_bytes > 0 || request.force_format;
  const std::string path = ranks.broadcast_text(paths.empty() ? "-" : sort::rank_path(paths.front(), ranks));
  const comm::Bytes header = ranks.broadcast(!is_described && ranks.rank() == 0 ? header_at(path) : comm::Bytes{});
  if (header.empty()) {
    static_cast<void>(layout_of(request));  // refuses names of fields
    return std::nullopt;
  }
  const io::NumpyType type = io::parse_numpy_header(header, path).type;
  return NumpyInputs{layout_of(type, request, path), {.numpy = header, .numpy_file = path}};
}

void take_numpy_inputs(sort::SortOptions& options, const SortRequest& request, comm::Communicator& ranks) {
  if (request.lines.lines) return;
  std::optional<NumpyInputs> found = numpy_inputs(options.input.paths, request.records, ranks);
  if (!found) return;
  options.layout = std::move(found->layout);
  options.input.header = std::move(found->header);
  options.input.content.refused = io::Refused::kNothing;  // elements may look like anything
  options.input.content.note = nullptr;
}

}  // namespace hetsort::job
