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
  lib::Words words{"--output", request.output};
  if (request.layout) lib::add_layout(words, *request.layout);
  lib::add_resources(words, request.resources);
  for (const std::string& folder : request.temp) words.insert(words.end(), {"--temp", folder});
  if (!request.speeds.empty())
    words.insert(words.end(), {"--speeds", fmt::format("{}", fmt::join(request.speeds, ","))});
  if (!request.cluster.empty()) words.insert(words.end(), {"--cluster", request.cluster});
  if (!request.strategy.empty()) words.insert(words.end(), {"--strategy", request.strategy});
  words.insert(words.end(), request.more.begin(), request.more.end());
  words.emplace_back("--");
  words.insert(words.end(), request.inputs.begin(), request.inputs.end());
  return words;
}

}  // namespace

SortResult sort_files(const SortFiles& request, const Ranks& ranks, const Control& control) {
  lib::check_header_version(request.header_version);
  return lib::sort_files(words_of(request), {ranks, control});
}

void sort_in_memory(const Ranks& ranks, std::span<const std::byte> records, std::span<std::byte> sorted,
                    const SortMemory& request, const Control& control) {
  lib::check_header_version(request.header_version);
  lib::Words words;
  lib::add_layout(words, request.layout);
  lib::add_resources(words, request.resources);
  lib::sort_in_memory(words, {ranks, control}, records, sorted);
}

int version() { return HETSORT_VERSION; }

}  // namespace hetsort
