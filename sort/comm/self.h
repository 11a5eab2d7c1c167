// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One rank alone: no MPI, nothing to wait for.
#pragma once

#include "sort/comm/communicator.h"

namespace hetsort::sort {

class SelfCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host() const override;
  void all_reduce_sum(std::span<std::uint64_t>) override {}
};

}  // namespace hetsort::sort
