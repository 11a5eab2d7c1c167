// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a request that no sort can fulfil.
#pragma once

#include <stdexcept>

namespace hetsort::sort {

/// The request is impossible: its options contradict each other, the inputs or the ranks. Exit code 2.
class RequestError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The memory that the request allows does not suffice.
class MemoryTooSmall : public RequestError {
 public:
  using RequestError::RequestError;
};

}  // namespace hetsort::sort
