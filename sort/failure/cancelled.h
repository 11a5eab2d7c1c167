// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a sort that its caller has ended.
#pragma once

#include <stdexcept>

namespace hetsort::sort {

/// The caller wants the sort to end.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("the sort was cancelled") {}
};

}  // namespace hetsort::sort
