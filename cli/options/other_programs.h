// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Words of other programs' command lines, and what serves their purpose here.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/arguments.h"
#include "job/options/option.h"

namespace hetsort::cli {

/// An option that other programs have.
struct OtherOption {
  std::string_view command;  ///< empty = every command that has the option `serves`
  std::string_view name;     ///< an option, or one with a value: "--sort=month"
  std::string_view advice;
  std::string_view serves{};  ///< a long name
};

/// What `given`, an option that hetsort lacks, perhaps with its value, is in other programs; nullptr if that is unknown
/// or hetsort has nothing for it.
const OtherOption* other_option(const std::string& command, const std::string& given, const job::Options& options);

/// The option that does here what `given` does in sort(1), if that has another spelling; otherwise `given`.
std::string spelled_here(const std::string& command, const std::string& given);

/// The message about keys as old versions of sort(1) took them, +POS [-POS], if the unknown option `given` is the
/// second half of one. Otherwise empty.
std::string old_key_message(Arguments arguments, const std::string& given);
/// The message about +POS alone, for which no file exists. Empty if `operand` is something else.
std::string old_key_message(const std::string& operand);

}  // namespace hetsort::cli
