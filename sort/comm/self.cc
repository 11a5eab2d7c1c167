// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/comm/self.h"

#include <unistd.h>

#include <array>

namespace hetsort::sort {

std::string SelfCommunicator::host() const {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace hetsort::sort
