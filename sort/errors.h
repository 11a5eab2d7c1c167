// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Why a sort that met no fault of a device does not end with an output.
#pragma once

#include <stdexcept>

namespace hetsort::sort {

/// The request cannot be carried out as it stands. Exit code 2.
class RequestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The written records are not the read ones in order: a fault of memory, disk or program. Exit code 2.
class ProofError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hetsort::sort
