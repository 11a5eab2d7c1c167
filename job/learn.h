// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sort adds to the file that `learn` names: points to a file of curves, factors to a cluster file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "job/logged_sort.h"
#include "job/sort_job.h"

namespace hetsort::job {

/// The file that the job adds to; empty = none. Requires: the job is resolved.
std::string learned_path(const SortJob& job);

/// The text of that file with what `run` measured, and notes for the user. Reads the file again, which other sorts may
/// have changed meanwhile. Requires: rank 0, after the sort has succeeded; learned_path() is not empty. Throws:
/// io::Error.
struct LearnedText {
  std::string text;
  std::vector<std::string> notes{};
};
LearnedText learned_text(SortJob& job, const LoggedSort& run, const comm::Communicator& ranks);

}  // namespace hetsort::job
