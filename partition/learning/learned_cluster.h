// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Brings a cluster file up to date with what real sorts measured.
//
// In: the file's text, and for each rank of a sort how much longer a phase took than predicted, and the resource that
// bounds it there. Out: the text with new factors of that resource. Everything else in it stays as it is.
// Idea: the costs of the file keep their shape. Each node has a factor for each resource (LearnedFactors), by which its
// times are multiplied. A run moves a factor most of the way to what it measured (an exponential average of
// logarithms), so that after three runs of one kind an error has shrunk to 1/16 of itself, and noise to two thirds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../cluster.h"
#include "../run/predict_run.h"

namespace hetsort::partition {

/// A phase of a rank: measured / predicted seconds, and what bounds it by the prediction.
struct ObservedPhase {
  double ratio = 1;
  Resource bound = Resource::kNone;
};

/// What a sort shows of one rank. A phase is empty if nothing comparable was measured.
struct ObservedRank {
  std::size_t node = 0;  ///< place in the cluster
  std::optional<ObservedPhase> form{};
  std::optional<ObservedPhase> exchange{};
};

struct ObservedRun {
  std::vector<ObservedRank> ranks{};
  // Seconds of the whole run that no node explains; empty = not measured.
  std::optional<double> start{};
  std::optional<double> select{};
  std::optional<double> publish{};
};

/// The part of a difference by which one run moves what is known.
inline constexpr double kLearnedPart = 0.6;

/// Returns the text of a cluster file with what `run` shows. Nodes of one name are one host, and nodes of one [[node]]
/// are alike: they get the mean of what their ranks show. Resources that all nodes share are not learned. Throws:
/// PlanError if `text` is no cluster file or writes its nodes in another form than [[node]]. Complexity: O(text +
/// ranks nodes).
std::string with_observed_run(std::string_view text, std::string_view source_name, const ObservedRun& run);

}  // namespace hetsort::partition
