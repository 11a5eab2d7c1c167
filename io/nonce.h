// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Random text that cannot be guessed. Internal to io/.
#pragma once

#include <cstddef>
#include <string>

namespace hetsort::io {

inline constexpr std::size_t kNonceDigits = 32;

/// 128 random bits from the kernel, as kNonceDigits lower-case hexadecimal digits. Throws: Error.
std::string make_nonce();

}  // namespace hetsort::io
