// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "hetsort/sort.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/call.h"
#include "lib/requests.h"

namespace hetsort {

namespace {

lib::Words words_of(const SortFiles& request) {
  lib::Words words{"--output=" + request.output};
  if (request.layout) lib::add_layout(words, *request.layout);
  lib::add_resources(words, request.resources);
  for (const std::string& folder : request.temp) words.push_back("--temp=" + folder);
  if (!request.speeds.empty()) words.push_back(fmt::format("--speeds={}", fmt::join(request.speeds, ",")));
  if (!request.cluster.empty()) words.push_back("--cluster=" + request.cluster);
  if (!request.strategy.empty()) words.push_back("--strategy=" + request.strategy);
  words.insert(words.end(), request.more.begin(), request.more.end());
  words.emplace_back("--");
  words.insert(words.end(), request.inputs.begin(), request.inputs.end());
  return words;
}

}  // namespace

SortResult sort_files(const SortFiles& request, const Ranks& ranks, const Control& control) {
  lib::check_header_version(request.header_version);
  return lib::sort_files(words_of(request), {ranks, control, request.output.empty() ? "no output is named" : ""});
}

void sort_in_memory(const Ranks& ranks, std::span<const std::byte> records, std::span<std::byte> sorted,
                    const SortMemory& request, const Control& control) {
  lib::check_header_version(request.header_version);
  lib::Words words;
  lib::add_layout(words, request.layout);
  lib::add_resources(words, request.resources);
  lib::sort_in_memory(words, {ranks, control, request.mistake}, records, sorted);
}

int version() { return HETSORT_VERSION; }

}  // namespace hetsort
