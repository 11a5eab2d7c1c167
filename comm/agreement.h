// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A check that all ranks were started alike. Ranks whose settings differ would call different collectives and wait for
// each other until --stall-timeout.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::comm {

/// One setting that must be the same on all ranks.
struct SharedSetting {
  std::string name;   ///< name of the setting as the user knows it, e.g. "--trace"
  std::string value;  ///< empty for an option without an argument
};

/// Compares the settings of all ranks with those of rank 0. Their order does not matter; a name that is given several
/// times counts with all its values, in their order. Collective: the ranks' exchange modes may differ.
/// Throws: JobMismatch, on all ranks, if a setting differs. Its message names the first rank that differs, its host and
/// each setting that differs with both values, shortened.
void require_same_on_all_ranks(Communicator& ranks, const std::vector<SharedSetting>& settings);

}  // namespace hetsort::comm
