// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls as command lines: every option means what it means to the program, and is checked once.
#pragma once

#include <string>
#include <vector>

#include "hetsort/sort.h"

namespace hetsort::lib {

using Words = std::vector<std::string>;

/// Add the options of a call to the words of a command line.
void add_layout(Words& words, const Layout& layout);
void add_resources(Words& words, const Resources& resources);

/// Throws: Error if no option can have this name, or if the one that has it wants a value that is not given.
void check_option(const std::string& name, bool has_value);

/// The caller's ranks, and how it follows the call.
struct Caller {
  const Ranks& ranks;
  const Control& control;
  std::string mistake{};    ///< why this rank cannot take part: then the call fails with it on all ranks
  bool owner_only = false;  ///< new output files get mode 0600
};

/// sort_files() with the words of `hetsort sort`. Collective. Throws: Error.
SortResult sort_files(const Words& words, const Caller& caller);

/// sort_in_memory() with the options of `hetsort sort` that concern records, memory and threads.
/// Collective. Throws: Error.
void sort_in_memory(const Words& words, const Caller& caller, std::span<const std::byte> records,
                    std::span<std::byte> sorted);

/// The result of a plan with the words of `hetsort plan`.
struct Planned {
  std::string json;                   ///< hetsort.plan/1
  std::vector<std::uint64_t> shares;  ///< shares of the nodes in their order
};
/// Makes the plan. Throws: Error.
Planned plan(const Words& words);

}  // namespace hetsort::lib
