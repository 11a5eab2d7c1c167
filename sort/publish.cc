// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/publish.h"

#include <fmt/format.h>

#include <array>

namespace hetsort::sort {

void prove(const Tally& input, const OrderAudit& written, const std::string& path, Communicator& ranks) {
  std::array<std::uint64_t, 5> sums{input.records, input.fingerprint, written.tally().records,
                                    written.tally().fingerprint, written.in_order() ? 0U : 1U};
  ranks.all_reduce_sum(sums);
  const auto [read, read_fingerprint, wrote, wrote_fingerprint, unordered] = sums;
  if (read != wrote) throw ProofError(fmt::format("check {}: {} records read but {} written", path, read, wrote));
  if (read_fingerprint != wrote_fingerprint)
    throw ProofError(
        fmt::format("check {}: the written records are not the ones read (fingerprint {:016x}, read {:016x})", path,
                    wrote_fingerprint, read_fingerprint));
  if (unordered != 0) throw ProofError(fmt::format("check {}: records are not in order", path));
}

}  // namespace hetsort::sort
