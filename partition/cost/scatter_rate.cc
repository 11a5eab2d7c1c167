// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/cost/scatter_rate.h"

#include <cmath>

namespace hetsort::partition {

bool is_linear(const CostPtr& cost) {
  const auto line = cost->affine();
  return line && line->start == 0;
}

std::vector<bool> participants(std::span<const LinearNode> nodes, double* rate) {
  std::vector<bool> kept(nodes.size(), false);
  double inverse_rate = 0;  // 1 / D of the nodes kept so far; 0 = none, so that any node is better
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const auto [receive, compute] = nodes[i];
    kept[i] = receive * inverse_rate <= 1;
    if (!kept[i]) continue;
    // D' = D (lambda + mu) / (D + mu), as 1/D' = (1 + mu/D) / (lambda + mu).
    const double sum = receive + compute;
    inverse_rate = std::isinf(inverse_rate) ? inverse_rate : (1 + compute * inverse_rate) / sum;
  }
  if (rate) *rate = 1 / inverse_rate;
  return kept;
}

double scatter_rate(std::span<const LinearNode> nodes) {
  double rate = 0;
  participants(nodes, &rate);
  return rate;
}

}  // namespace hetsort::partition
