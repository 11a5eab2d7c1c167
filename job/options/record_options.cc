// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/options/record_options.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "io/field.h"
#include "job/options/line_options.h"
#include "job/options/parse.h"
#include "order/key_types.h"
#include "order/lines/line_order.h"
#include "sort/sort.h"

namespace hetsort::job {

namespace {

using sort::KeyField;

/// The names of the types of numbers, separated by blanks.
std::string type_names() {
  std::string names;
  for (const order::KeyType& type : order::kKeyTypes) names.append(names.empty() ? "" : " ").append(type.name);
  return names;
}

bool is_number(std::string_view text) {
  return text.empty() || std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether a key names a field of a NumPy file, because no number is at its front.
bool is_name(std::string_view key) {
  const std::string_view offset = key.substr(0, key.find(':'));
  return !is_number(offset.substr(offset.starts_with('-') ? 1 : 0));
}

/// Sets what the middle part of a key says: a length in bytes, or a type.
void set_type(KeyField& field, std::string_view type, const std::string& key, const std::string& what) {
  if (is_number(type)) {
    const std::uint64_t bytes = job::parse_count(type, what + " length");
    if (bytes < 1 || bytes > sort::kMaxKeyBytes)
      throw RequestError(fmt::format("key length {} is not within 1 to {} bytes", bytes, sort::kMaxKeyBytes));
    field.bytes = static_cast<std::uint16_t>(bytes);
    return;
  }
  field.big_endian = type.ends_with(order::kBigEndian);
  const std::string_view name = type.substr(0, type.size() - (field.big_endian ? order::kBigEndian.size() : 0));
  const auto* const known = std::ranges::find(order::kKeyTypes, name, &order::KeyType::name);
  if (known == order::kKeyTypes.end())
    throw RequestError(
        fmt::format("{} '{}': '{}' is neither a length in bytes nor a type; types are {}, with '{}' appended if they "
                    "are big-endian",
                    what, key, type, type_names(), order::kBigEndian));
  field.kind = known->kind;
  field.bytes = known->bytes;
}

/// In sort(1) --key is the long name of -k.
std::string advice_on_line_key(const std::string& key) {
  try {
    static_cast<void>(parse_line_key(key, ""));
    return fmt::format("; it is for records here, and 'hetsort sort -k {}' is for lines", key);
  } catch (const RequestError&) {
    return "";
  }
}

/// The name of a field is no key of other files than NumPy's.
[[noreturn]] void refuse_name(const std::string& name) {
  const std::string advice = advice_on_line_key(name);
  throw RequestError(fmt::format("{} '{}' is not OFFSET:LENGTH or OFFSET:TYPE{}", io::field("key"), name,
                                 advice.empty() ? "; names of fields are for NumPy files" : advice));
}

}  // namespace

KeyField parse_key(const std::string& key, const std::string& what) {
  const std::size_t colon = key.find(':');
  if (colon == std::string::npos)
    throw RequestError(
        fmt::format("{} '{}' is not OFFSET:LENGTH or OFFSET:TYPE{}", what, key, advice_on_line_key(key)));
  const std::size_t second = std::min(key.find(':', colon + 1), key.size());
  const std::string_view order = std::string_view(key).substr(second);
  KeyField field;
  field.descending = order == ":desc";
  if (!order.empty() && !field.descending)
    throw RequestError(fmt::format("{} '{}': '{}' is not 'desc'", what, key, order.substr(1)));
  const std::uint64_t offset = parse_count(std::string_view(key).substr(0, colon), what + " offset");
  set_type(field, std::string_view(key).substr(colon + 1, second - colon - 1), key, what);
  if (offset > sort::kMaxRecordBytes)
    throw RequestError(fmt::format("key {} reaches beyond a record of at most {} bytes", key, sort::kMaxRecordBytes));
  field.offset = static_cast<std::uint32_t>(offset);
  return field;
}

void add_layout_options(Options& options, RecordRequest& request) {
  options.add({.name = "record-size",
               .value = "BYTES",
               .usual = "100",
               .help = "size of a record, 1 to 1048576",
               .fill = take(request.record_bytes, count_from(1, sort::kMaxRecordBytes))});
  options.add({.name = "key",
               .value = "OFFSET:TYPE|FIELD[:desc]",
               .help = fmt::format("a key inside the record: TYPE is a number of bytes, or one of {}, little-endian "
                                   "unless '{}' is appended; FIELD names one of a NumPy file; up to {} keys, most "
                                   "significant first (0:10, or the whole of a shorter record; all fields)",
                                   type_names(), order::kBigEndian, sort::kMaxKeyFields),
               .repeatable = true,
               .fill = [&request](const std::string& text, const std::string& what) {
                 if (is_name(text))
                   request.key_names.push_back(text);
                 else
                   request.keys.push_back(parse_key(text, what));
               }});
}

void add_record_options(Options& options, RecordRequest& request) {
  add_layout_options(options, request);
  options.add(
      {.name = "reverse", .letter = 'r', .help = "reverse the order of every key", .fill = turn_on(request.reverse)});
  options.add({.name = "header",
               .value = "BYTES",
               .usual = "0",
               .help = "bytes at the start of each input that are not records",
               .fill = take(request.header_bytes, count_from(0, io::kMaxHeaderBytes))});
}

void add_content_option(Options& options, RecordRequest& request) {
  options.add(choice({.name = "decompress",
                      .value = "WHEN",
                      .usual = "auto",
                      .help = "auto: files and pipes of gzip, zstd and lz4 data are read as what they hold; or no"},
                     request.decompress, std::vector<std::pair<std::string, bool>>{{"auto", true}, {"no", false}}));
  options.add({.name = "force-format",
               .help = "take every input for what the other options say; otherwise text is refused unless lines or a "
                       "record size are given, and so are archives and others that are neither records nor lines",
               .fill = turn_on(request.force_format)});
}

sort::RecordLayout layout_of(const RecordRequest& request) {
  if (!request.key_names.empty()) refuse_name(request.key_names.front());
  sort::RecordLayout layout;
  layout.record_bytes = request.record_bytes.value_or(layout.record_bytes);
  layout.key_bytes = std::min(layout.key_bytes, layout.record_bytes);
  const std::vector<KeyField>& keys = request.keys;
  if (keys.size() > sort::kMaxKeyFields)
    throw RequestError(
        fmt::format("{} is given {} times; {} keys are allowed", io::field("key"), keys.size(), sort::kMaxKeyFields));
  if (!keys.empty()) layout = order::layout_with_keys(layout.record_bytes, keys);
  if (request.reverse) layout = order::reversed(layout);
  sort::check_layout(layout);
  return layout;
}

io::ContentRules content_of(const RecordRequest& request, const sort::RecordLayout& layout) {
  io::ContentRules content;
  if (layout.lines) {
    if (!layout.lines->is_csv()) content.separator = layout.lines->separator();
    content.terminator = layout.lines->terminator();
  } else if (!request.record_bytes) {
    content.refused = io::Refused::kFormatsAndText;
  }
  if (request.force_format) content.refused = io::Refused::kNothing;
  content.decompress = request.decompress && !request.force_format;
  return content;
}

}  // namespace hetsort::job
