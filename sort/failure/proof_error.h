// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a sort whose output is not proven.
#pragma once

#include <stdexcept>

namespace hetsort::sort {

/// The written records are not the read ones in order: a fault of memory, disk or program. Exit code 2.
class ProofError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hetsort::sort
