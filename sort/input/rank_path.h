// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths with {rank} in them: each rank's own local file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::sort {

inline constexpr std::string_view kRankPlace = "{rank}";

inline bool is_rank_path(const std::string& path) { return path.find(kRankPlace) != std::string::npos; }

/// Returns `path` with every {rank} replaced by `rank`.
inline std::string path_of_rank(std::string path, int rank) {
  for (std::size_t at = path.find(kRankPlace); at != std::string::npos; at = path.find(kRankPlace, at))
    path.replace(at, kRankPlace.size(), std::to_string(rank));
  return path;
}

/// Returns path_of_rank() of this rank; `path` itself if no launcher gave this process a number.
inline std::string rank_path(std::string path, const comm::Communicator& ranks) {
  return ranks.launched() ? path_of_rank(std::move(path), ranks.rank()) : path;
}

/// Returns each path as rank_path() does.
inline std::vector<std::string> rank_paths(std::vector<std::string> paths, const comm::Communicator& ranks) {
  for (std::string& path : paths) path = rank_path(std::move(path), ranks);
  return paths;
}

}  // namespace hetsort::sort
