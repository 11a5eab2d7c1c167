// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// phases: shares of input and output by the model of a whole run (run/predict_run.h): processors, links, disks, memory.
// The output is exact for its input. O(p) a step.
#include "partition/run/best_output.h"
#include "partition/run/best_shares.h"
#include "partition/run/explain_run.h"
#include "partition/strategies/model.h"

namespace hetsort::partition {
namespace {

std::string unsuitable_for_phases(const Problem& problem) {
  if (!problem.run)
    return problem.run_missing.empty() ? "it needs a cluster file with the compute and merge costs of all nodes"
                                       : problem.run_missing;
  if (problem.scatter) return "it plans for ranks that read their input themselves, not for a root that sends it";
  for (const ProblemNode& node : problem.nodes)
    if (node.min_records > 0) return "it keeps no lower limits on the records of a node";
  return {};
}

Shares phase_shares(const Problem& problem, double) {
  const RunModel model = run_model_of(problem);
  Shares answer;
  answer.input = given_input(problem);
  const InputChoice choice = answer.input.empty() ? InputChoice::kPlanned : InputChoice::kGiven;
  if (answer.input.empty()) {
    PhaseShares shares = best_shares(model, problem.records);
    answer.input = std::move(shares.input);
    answer.records = std::move(shares.output);
  } else {
    answer.records = best_output(model, answer.input);
  }
  answer.explanation = explain_run(model, answer.input, answer.records, choice);
  return answer;
}

}  // namespace

extern const Strategy phases_strategy{.name = "phases",
                                      .summary = "by processors, links, disks and memory in each phase",
                                      .unsuitable = unsuitable_for_phases,
                                      .share = phase_shares};

}  // namespace hetsort::partition
