// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of subcommands: which exist, what runs them and which options they have.
#pragma once

#include <span>
#include <string_view>

#include "cli/commands.h"

namespace hetsort::cli {

struct Subcommand {
  std::string_view name;
  int (*run)(Arguments);
  job::Options (*options)();
  std::string_view summary;
};

std::span<const Subcommand> subcommands();

}  // namespace hetsort::cli
