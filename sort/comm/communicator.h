// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The seam between the phases and whatever connects the ranks. One driver serves one rank and many.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace hetsort::sort {

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The machine's name, for reports and messages.
  virtual std::string host() const = 0;

  /// Replaces each value by its sum modulo 2^64 over all ranks.
  /// Collective: all ranks, same number of values, same order of calls.
  virtual void all_reduce_sum(std::span<std::uint64_t> values) = 0;
};

}  // namespace hetsort::sort
