// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a command that sorts may use of a machine: the options -S, -T and -j.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::cli {

/// Maximum number of threads: with more, a machine would do nothing but switch between them.
inline constexpr std::uint64_t kMaxThreads = 1024;

struct ResourceRequest {
  std::uint64_t memory_bytes = 0;
  std::size_t threads = 1;
  std::vector<std::string> temp_directories;
  bool memory_given = false;
  bool threads_given = false;
  bool temp_given = false;
  std::string note{};  ///< what the user should know of them; set by resolve_for_job()
};

/// Adds -S, -T and -j. `temp_use`: what the temporary folder is for.
void add_resource_options(boost::program_options::options_description& options, const std::string& temp_use);
ResourceRequest requested_resources(const boost::program_options::variables_map& values);
/// Adds -j alone.
void add_threads_option(boost::program_options::options_description& options);
/// The value of -j; none if it is not given.
std::optional<std::size_t> given_threads(const boost::program_options::variables_map& values);
/// Resolves what depends on the job. {rank} in -T is this rank's number; without -T the folders are those of `outputs`
/// that are on a disk. Ranks of one host share its memory and processors unless -S and -j were given. A given -S that
/// this process cannot have is lowered to its default, and the note says so.
void resolve_for_job(ResourceRequest& request, const std::vector<std::string>& outputs,
                     const comm::Communicator& ranks);

}  // namespace hetsort::cli
