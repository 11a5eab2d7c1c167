// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/strategy_choice.h"

#include <optional>

namespace hetsort::job {

std::string usual_strategy(const KnownOfNodes& known) {
  if (known.measures || known.whole_runs || known.root_sends) return std::string(kAuto);
  return known.cluster ? "threshold" : known.speeds ? "lambert" : "equal";
}

partition::AutoChoice choose_automatically(const partition::Problem& problem) {
  if (problem.scatter)
    if (const std::optional<partition::AutoChoice> choice = partition::choose_for_scatter(problem)) return *choice;
  return partition::choose_for_shares(problem);
}

}  // namespace hetsort::job
