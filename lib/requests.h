// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls as requests of job/: a call fills one, directly or by the names of options.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hetsort/sort.h"
#include "job/options/option.h"
#include "job/request/request.h"

namespace hetsort::lib {

/// Names of options, and their texts; empty for an option without a value.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// Throws: Error if no option can have this name, or if the one that has it wants a value that is not given.
void check_option(const std::string& name, bool has_value);

/// Fills a request. `options` are bound to it. Throws: job::RequestError and other exceptions for what cannot be asked.
using FillSort = std::function<void(job::SortRequest& request, job::Options& options)>;

/// Set options of the request. Throw: job::RequestError.
void set_text(job::Options& options, std::string_view name, const std::string& text);
void set_all(job::Options& options, const NamedTexts& texts);
/// Sets options that are given as words: "--header", "128", "--unique", "-k2". Throws: job::RequestError.
void set_words(job::Options& options, const std::vector<std::string>& words);
void set_layout(job::SortRequest& request, job::Options& options, const Layout& layout);
void set_resources(job::SortRequest& request, job::Options& options, const Resources& resources);

/// The caller's ranks, and how it follows the call.
struct Caller {
  const Ranks& ranks;
  const Control& control;
  std::string mistake{};  ///< why this rank cannot take part: then the call fails with it on all ranks
};

/// Sorts files. Collective. Throws: Error.
SortResult sort_files(const FillSort& fill, const Caller& caller);

/// Sorts records in memory, with the options of a sort that concern records, memory and threads. `places`: gets the
/// numbers of the records instead, in sorted order; then `sorted` is empty, and there is one rank.
/// Collective. Throws: Error.
void sort_in_memory(const FillSort& fill, const Caller& caller, std::span<const std::byte> records,
                    std::span<std::byte> sorted, std::span<std::uint64_t> places = {});

/// The result of a plan with the options of `hetsort plan`.
struct Planned {
  std::string json;                   ///< hetsort.plan/1
  std::vector<std::uint64_t> shares;  ///< shares of the nodes in their order
};
/// Makes the plan. Throws: Error.
Planned plan(const NamedTexts& texts);

}  // namespace hetsort::lib
