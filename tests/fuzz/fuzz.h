// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A fuzz target is one file with two functions. driver.cc calls them; so does libFuzzer with -DHETSORT_LIBFUZZER=ON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Tries one input. Must return 0 and leave nothing behind. Whatever the input, it must not throw, crash, or take long.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hetsort::fuzz::test {

/// Valid inputs, from which the driver makes others.
std::vector<std::string> seeds();
/// What mutations insert: words of the format.
std::vector<std::string> words();

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process with a message: the target has found a fault.
[[noreturn]] void fail(const std::string& what);

inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

}  // namespace hetsort::fuzz::test
