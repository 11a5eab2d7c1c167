// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/record_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/options/line_options.h"
#include "cli/options/typed_options.h"
#include "order/lines/line_order.h"
#include "sort/failure/request_error.h"
#include "sort/sort.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;
using sort::KeyField;
using sort::KeyKind;

struct KeyType {
  std::string_view name;
  KeyKind kind;
  std::uint16_t bytes;
};

constexpr std::array kKeyTypes{KeyType{"u8", KeyKind::kUnsigned, 1},    KeyType{"u16", KeyKind::kUnsigned, 2},
                               KeyType{"u32", KeyKind::kUnsigned, 4},   KeyType{"u64", KeyKind::kUnsigned, 8},
                               KeyType{"u128", KeyKind::kUnsigned, 16}, KeyType{"i8", KeyKind::kSigned, 1},
                               KeyType{"i16", KeyKind::kSigned, 2},     KeyType{"i32", KeyKind::kSigned, 4},
                               KeyType{"i64", KeyKind::kSigned, 8},     KeyType{"i128", KeyKind::kSigned, 16},
                               KeyType{"f16", KeyKind::kFloat, 2},      KeyType{"f32", KeyKind::kFloat, 4},
                               KeyType{"f64", KeyKind::kFloat, 8}};

bool is_number(std::string_view text) {
  return text.empty() || std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Sets what the middle part of a --key says: a length in bytes, or a type.
void set_type(KeyField& field, std::string_view type, const std::string& key) {
  if (is_number(type)) {
    const std::uint64_t bytes = parse_count(type, "--key length");
    if (bytes < 1 || bytes > sort::kMaxKeyBytes)
      throw sort::RequestError(fmt::format("key length {} is not within 1 to {} bytes", bytes, sort::kMaxKeyBytes));
    field.bytes = static_cast<std::uint16_t>(bytes);
    return;
  }
  field.big_endian = type.ends_with("be");
  const std::string_view name = type.substr(0, type.size() - (field.big_endian ? 2 : 0));
  const auto* const known =
      std::find_if(kKeyTypes.begin(), kKeyTypes.end(), [&](const KeyType& t) { return t.name == name; });
  if (known == kKeyTypes.end())
    throw UsageError(fmt::format(
        "--key '{}': '{}' is neither a length in bytes nor a type; types are u8 u16 u32 u64 u128, i8 to i128, f16, "
        "f32 and f64, with 'be' appended if they are big-endian",
        key, type));
  field.kind = known->kind;
  field.bytes = known->bytes;
}

/// In sort(1) --key is the long name of -k.
std::string advice_on_line_key(const std::string& key) {
  try {
    static_cast<void>(parse_line_key(key));
    return fmt::format("; it is for records here, and 'hetsort sort -k {}' is for lines", key);
  } catch (const UsageError&) {
    return "";
  }
}

KeyField parse_key(const std::string& key, std::size_t record_bytes) {
  const std::size_t colon = key.find(':');
  if (colon == std::string::npos)
    throw UsageError(fmt::format("--key '{}' is not OFFSET:LENGTH or OFFSET:TYPE{}", key, advice_on_line_key(key)));
  const std::size_t second = std::min(key.find(':', colon + 1), key.size());
  const std::string_view order = std::string_view(key).substr(second);
  KeyField field;
  field.descending = order == ":desc";
  if (!order.empty() && !field.descending)
    throw UsageError(fmt::format("--key '{}': '{}' is not 'desc'", key, order.substr(1)));
  const std::uint64_t offset = parse_count(std::string_view(key).substr(0, colon), "--key offset");
  set_type(field, std::string_view(key).substr(colon + 1, second - colon - 1), key);
  if (offset > record_bytes || field.bytes > record_bytes - offset)
    throw sort::RequestError(fmt::format("key {} reaches beyond the {}-byte record", key, record_bytes));
  field.offset = static_cast<std::uint32_t>(offset);
  return field;
}

}  // namespace

void add_record_options(po::options_description& options) {
  auto add = options.add_options();
  add("record-size",
      count("BYTES", "--record-size", 1, sort::kMaxRecordBytes)
          ->default_value(sort::RecordLayout{}.record_bytes, "100"),
      "size of a record, 1 to 1048576");
  add("key", po::value<std::vector<std::string>>()->composing()->value_name("OFFSET:TYPE[:desc]"),
      "a key inside the record: TYPE is a number of bytes, or u8 to u128, i8 to i128, f16, f32, f64, little-endian "
      "unless 'be' is appended; up to 16 keys, most significant first (0:10, or the whole of a shorter record)");
  add("reverse,r", po::bool_switch(), "reverse the order of every key");
  add("header", count("BYTES", "--header", 0, sort::kMaxHeaderBytes)->default_value(0, "0"),
      "bytes at the start of each input that are not records");
  add("force-format", po::bool_switch(),
      "take every input for what the other options say; otherwise text without --lines or --record-size is refused, "
      "and "
      "so are compressed files, NumPy files and others that are neither records nor lines");
}

sort::RecordLayout requested_layout(const po::variables_map& values) {
  sort::RecordLayout layout;
  if (const auto lines = requested_lines(values)) {
    layout.record_bytes = 1;
    layout.lines = std::make_shared<const order::LineOrder>(*lines);
    return layout;
  }
  layout.record_bytes = value_of<std::uint64_t>(values, "record-size");
  layout.key_bytes = std::min(layout.key_bytes, layout.record_bytes);
  if (const auto keys = optional_value<std::vector<std::string>>(values, "key")) {
    if (keys->size() > sort::kMaxKeyFields)
      throw UsageError(fmt::format("--key is given {} times; {} keys are allowed", keys->size(), sort::kMaxKeyFields));
    std::vector<KeyField> fields;
    fields.reserve(keys->size());
    for (const std::string& key : *keys) fields.push_back(parse_key(key, layout.record_bytes));
    layout = order::layout_with_keys(layout.record_bytes, fields);
  }
  if (value_of<bool>(values, "reverse")) layout = order::reversed(layout);
  sort::check_layout(layout);
  return layout;
}

io::ContentRules requested_content(const po::variables_map& values, const sort::RecordLayout& layout) {
  io::ContentRules content;
  if (value_of<bool>(values, "force-format"))
    content.refused = io::Refused::kNothing;
  else if (values["record-size"].defaulted() && !layout.is_lines())
    content.refused = io::Refused::kFormatsAndText;
  if (layout.is_lines()) content.separator = layout.lines->separator();
  if (layout.is_lines()) content.terminator = layout.lines->terminator();
  return content;
}

std::uint64_t requested_header_bytes(const po::variables_map& values) {
  return value_of<std::uint64_t>(values, "header");
}

}  // namespace hetsort::cli
