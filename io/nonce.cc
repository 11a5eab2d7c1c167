// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/nonce.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "io/error.h"

namespace hetsort::io {

std::string make_nonce() {
  std::array<unsigned char, kNonceDigits / 2> bits{};
  if (::getentropy(bits.data(), bits.size()) != 0) throw Error("get", "random bits", errno);
  std::string digits;
  for (const unsigned char byte : bits) {
    digits += "0123456789abcdef"[byte >> 4U];
    digits += "0123456789abcdef"[byte & 15U];
  }
  return digits;
}

}  // namespace hetsort::io
