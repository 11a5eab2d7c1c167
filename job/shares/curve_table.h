// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The measurements of earlier sorts, a file of --learn (hetsort.curves/1), as a job of several ranks sees it.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"
#include "partition/learning.h"
#include "sort/model/shares.h"

namespace hetsort::job {

/// Whether the file of --learn is a cluster file, and not one of curves, as a missing file becomes. Rank 0 reads it.
/// Collective. Throws: io::Error; PeerFailed.
bool learns_cluster(const std::string& path, comm::Communicator& ranks);

class CurveTable {
 public:
  /// Rank 0 reads the file; a missing one is an empty table. Collective. Throws: io::Error;
  /// partition::PlanError naming file and place; PeerFailed.
  CurveTable(const std::string& path, comm::Communicator& ranks);

  const std::string& path() const { return path_; }
  const partition::CurveLearner& learner() const { return learner_; }
  /// The name under which each rank's measurements are kept: that of its host; for the Kth of M ranks on one host
  /// NAME:K/M, because measurements of two ranks on a host do not predict those of a single rank.
  const std::vector<std::string>& names() const { return names_; }
  /// The first name of a rank without measurements; empty when all have some.
  std::string unknown() const;

  /// Adds what each rank measured, if that is long enough for a rate. Returns notes for the user.
  std::vector<std::string> learn(const std::vector<sort::Work>& work);
  /// The text that the file will have.
  std::string text() const { return partition::save_curves(learner_.curves()); }

 private:
  std::string path_;
  partition::CurveLearner learner_;
  std::vector<std::string> names_;
};

}  // namespace hetsort::job
