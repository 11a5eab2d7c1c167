// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The first messages between ranks: each rank sends rank 0 a hello, and rank 0 answers all with one verdict. Their form
// never changes, so that different versions and builds recognize and refuse each other.
//
// Both are kHelloBytes long, text in ASCII, filled up with zero bytes:
//
//   hetsort hello 1                      name and number of the form
//   crc32c 0123abcd                      of all bytes after this line, the zeros included
//   version 0.1.0                        further lines "key value"; unknown keys are ignored
//   build 5f0c...
//   machine x86_64 little-endian
//   host nodeA
//   bell 0123456789abcdef 0001a          where the rank can be rung (event.h), if it can be
//
// A verdict has the keys `host` and, unless all ranks fit together, `refused` with the reason.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/base/event.h"
#include "comm/base/types.h"

namespace hetsort::comm {

inline constexpr std::size_t kHelloBytes = 1024;
inline constexpr int kHelloTag = 4;
inline constexpr int kVerdictTag = 5;

using HelloBytes = std::array<std::byte, kHelloBytes>;

struct Hello {
  ProgramIdentity identity;
  std::string host;
  BellAddress bell{};
};

HelloBytes encode(const Hello& hello);
/// Reads a hello. Throws: std::runtime_error that says what is wrong with it.
Hello decode_hello(std::span<const std::byte> bytes);

struct HelloVerdict {
  std::string host;     ///< rank 0's host
  std::string refusal;  ///< empty if all ranks fit together
};

HelloBytes encode(const HelloVerdict& verdict);
/// Reads a verdict. Throws: std::runtime_error that says what is wrong with it.
HelloVerdict decode_verdict(std::span<const std::byte> bytes);

/// Why the ranks do not fit together, by their hellos in rank order; empty if they do.
std::string refusal(const std::vector<Hello>& hellos);

}  // namespace hetsort::comm
