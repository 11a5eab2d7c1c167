// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/record_options.h"

#include <algorithm>

#include "cli/shared/typed_options.h"
#include "sort/sort.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

struct KeyPlace {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

KeyPlace parse_key(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw UsageError(fmt::format("--key '{}' is not OFFSET:LENGTH", text));
  return {parse_count(text.substr(0, colon), "--key offset"), parse_count(text.substr(colon + 1), "--key length")};
}

}  // namespace

void add_record_options(po::options_description& options) {
  auto add = options.add_options();
  add("record-size",
      count("BYTES", "--record-size", 1, sort::kMaxRecordBytes)
          ->default_value(sort::RecordLayout{}.record_bytes, "100"),
      "size of a record, 1 to 1048576");
  add("key", parsed<KeyPlace>("OFFSET:LENGTH", parse_key),
      "the key inside the record, up to 4096 bytes (0:10, or the whole of a shorter record)");
}

sort::RecordLayout requested_layout(const po::variables_map& values) {
  sort::RecordLayout layout;
  layout.record_bytes = value_of<std::uint64_t>(values, "record-size");
  layout.key_bytes = std::min(layout.key_bytes, layout.record_bytes);
  if (const auto key = optional_value<KeyPlace>(values, "key")) {
    layout.key_offset = key->offset;
    layout.key_bytes = key->bytes;
  }
  sort::check_layout(layout);
  return layout;
}

}  // namespace hetsort::cli
