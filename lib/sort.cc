// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "hetsort/sort.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/call.h"
#include "lib/requests.h"

namespace hetsort {

namespace {

void fill(const SortFiles& from, job::SortRequest& request, job::Options& options) {
  request.phases.input.paths = from.inputs;
  lib::set_text(options, "output", from.output);
  if (from.layout) lib::set_layout(request, options, *from.layout);
  lib::set_resources(request, options, from.resources);
  for (const std::string& folder : from.temp) lib::set_text(options, "temp", folder);
  request.shares.speeds = from.speeds;
  if (!from.speeds.empty()) options.note("speeds", fmt::format("{}", fmt::join(from.speeds, ",")));
  if (!from.cluster.empty()) lib::set_text(options, "cluster", from.cluster);
  if (!from.strategy.empty()) lib::set_text(options, "strategy", from.strategy);
  for (const std::string& folder : from.checkpoint) lib::set_text(options, "checkpoint", folder);
  lib::set_words(options, from.more);
}

}  // namespace

SortResult sort_files(const SortFiles& request, const Ranks& ranks, const Control& control) {
  lib::check_header_version(request.header_version);
  return lib::sort_files([&](job::SortRequest& into, job::Options& options) { fill(request, into, options); },
                         {ranks, control, request.output.empty() ? "no output is named" : ""});
}

void sort_in_memory(const Ranks& ranks, std::span<const std::byte> records, std::span<std::byte> sorted,
                    const SortMemory& request, const Control& control) {
  lib::check_header_version(request.header_version);
  const auto fill = [&](job::SortRequest& into, job::Options& options) {
    lib::set_layout(into, options, request.layout);
    lib::set_resources(into, options, request.resources);
  };
  lib::sort_in_memory(fill, {ranks, control, request.mistake}, records, sorted);
}

int version() { return HETSORT_VERSION; }

}  // namespace hetsort
