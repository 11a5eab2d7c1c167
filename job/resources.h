// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a job may use of a machine: memory, threads, folders for what spills.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "job/options/option.h"
#include "job/request/request.h"

namespace hetsort::job {

/// Maximum number of threads: with more, a machine would do nothing but switch between them.
inline constexpr std::uint64_t kMaxThreads = 1024;

/// Adds memory, temp and threads. `temp_use`: what the temporary folder is for.
void add_resource_options(Options& options, ResourceRequest& request, const std::string& temp_use);
void add_memory_option(Options& options, std::optional<std::uint64_t>& memory_bytes);
void add_threads_option(Options& options, std::optional<std::size_t>& threads);

/// What this rank uses.
struct Resources {
  std::uint64_t memory_bytes = 0;
  bool memory_given = false;  ///< the caller said how much
  std::size_t threads = 1;
  std::vector<std::string> temp_directories{};
  bool temp_given = false;  ///< the caller named the folders
  std::string note{};       ///< what the user should know of them; or empty
};

/// Resolves what depends on the job. {rank} in a temporary folder is this rank's number; without one the folders are
/// those of `outputs` that are on a disk. Ranks of one host share its memory and processors unless the caller gave
/// them. A given memory that this process cannot have is lowered to the default, and the note says so. Throws:
/// RequestError.
Resources resources_of(const ResourceRequest& request, const std::vector<std::string>& outputs,
                       const comm::Communicator& ranks);

}  // namespace hetsort::job
