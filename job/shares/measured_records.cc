// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/measured_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "job/options/record_options.h"
#include "job/report/json.h"
#include "order/layout_text.h"

namespace hetsort::job {

namespace {

std::string note(const partition::Cluster& cluster, const std::string& others) {
  const std::string keys =
      cluster.keys.empty() ? "" : printable(fmt::format(" with the keys {}", fmt::join(cluster.keys, ", ")));
  return fmt::format("{}: its costs were measured for {}-byte records{}, not for {}: the prediction is rougher",
                     cluster.source_name, cluster.record_bytes, keys, others);
}

}  // namespace

std::string note_on_records(const partition::Cluster& cluster, const sort::RecordLayout& layout) {
  if (cluster.record_bytes == 0) return "";
  if (layout.lines) return note(cluster, "lines");
  RecordRequest measured{.record_bytes = static_cast<std::uint64_t>(cluster.record_bytes)};
  for (const std::string& key : cluster.keys) measured.keys.push_back(parse_key(key, cluster.source_name + ": keys:"));
  if (measured.record_bytes != layout.record_bytes) return note_on_records(cluster, layout.record_bytes);
  return order::layout_text(layout_of(measured)) == order::layout_text(layout) ? "" : note(cluster, "these keys");
}

std::string note_on_records(const partition::Cluster& cluster, std::uint64_t record_bytes) {
  const bool same = cluster.record_bytes == 0 || static_cast<std::uint64_t>(cluster.record_bytes) == record_bytes;
  return same ? "" : note(cluster, fmt::format("{}-byte records", record_bytes));
}

}  // namespace hetsort::job
