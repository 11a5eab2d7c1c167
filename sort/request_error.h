// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a request that makes no sense.
#pragma once

#include <stdexcept>

namespace hetsort::sort {

/// The request cannot be carried out as it stands. Exit code 2.
class RequestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hetsort::sort
