// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// First bytes of inputs: they are accepted, noted or refused with a reason, whatever they are.
#include <span>

#include "io/format/content.h"
#include "io/format/foreign.h"
#include "io/format/numpy.h"
#include "io/format/text.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

using std::string_literals::operator""s;

/// Whether the rules refuse the front.
bool is_refused(std::span<const std::byte> front, io::Refused refused) {
  io::ContentRules rules{.refused = refused, .separator = ',', .note = {}};
  rules.note = [](const std::string& note) { require(!note.empty(), "an empty note"); };
  try {
    io::check_front("NAME", front, rules);
    return false;
  } catch (const io::ContentError& error) {
    require(error.operation() == "read" && error.path() == "NAME", "a refusal without its place");
    return true;
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {"\x1f\x8b\x08\0\0\0\0\0\0\x03"s,
          "BZh9\x31\x41\x59\x26\x53\x59"s,
          "\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"s,
          "\xff\xfe\x61\0\x0a\0"s,
          "line\n\u8a9e \u043c\u0435\u0440\u0430\n"s,
          "a,\"b\"\n"s,
          "[('a', '<f8', (2, 3)), (('t', 'b'), [('c', '>U2')])]"s};
}

std::vector<std::string> words() {
  return {"\0"s, "\xff", "'descr': '", "'>i4'", "('", "), ", "[(", "PAR1\x15", "ustar  \0"s};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;              // NOLINT(google-build-using-namespace)
  using namespace hetsort::fuzz::test;  // NOLINT(google-build-using-namespace)
  const auto front = std::as_bytes(std::span(data, size));
  const bool foreign = is_refused(front, io::Refused::kFormats);
  const bool known = io::foreign_format(front) != nullptr || io::is_numpy(front);
  require(foreign == (known && size > 0), "a format is refused only if it is known");
  require(is_refused(front, io::Refused::kFormatsAndText) == (foreign || io::is_text(front)), "text is refused too");
  require(!is_refused(front, io::Refused::kNothing), "nothing is refused");
  const std::string description(reinterpret_cast<const char*>(data), size);
  for (const unsigned version : {1U, 3U}) {
    try {
      const io::NumpyType type = io::numpy_type(description, version, "NAME");
      require(type.bytes() > 0 && type.is_like(type), "a type without bytes, or unlike itself");
    } catch (const io::Error& error) {
      require(error.path() == "NAME", "a refusal without its place");
    }
  }
  return 0;
}
