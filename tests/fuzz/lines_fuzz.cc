// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Options of lines, and lines. An input is arguments, one a line, then an empty line, then the lines to compare.
//
// No order of two lines is known here. But the first bytes of a key are those that front() gives, no key is a prefix of
// another unless the lines have equal keys, and with the last resort only equal lines have equal keys.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cli/options/command_line.h"
#include "job/options/line_options.h"
#include "job/sort_options.h"
#include "order/lines/line_order.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

using Key = std::vector<std::byte>;

/// The text up to the next newline, which is removed as well.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<order::LineOptions> take_options(std::string_view& text) {
  std::vector<std::string> arguments;
  for (std::string_view line = take_line(text); !line.empty(); line = take_line(text)) arguments.emplace_back(line);
  job::SortRequest request;
  job::Options options;
  job::add_one_sort_options(options, request);
  try {
    static_cast<void>(cli::parse_command_line("sort", arguments, options));
    if (!request.lines.lines) return std::nullopt;
    return job::line_options_of(request.lines,
                                {request.records.reverse, request.phases.output.unique || request.stable});
  } catch (const std::runtime_error&) {
    return std::nullopt;  // refused
  }
}

Key key_of(const order::LineOrder& order, std::string_view line) {
  const auto bytes = std::as_bytes(std::span(line));
  Key key;
  order.normalize(bytes, key);
  Key first = key;
  first.resize(16);
  require(std::ranges::equal(order.front(bytes), first), "front() is not the start of the normalized key");
  return key;
}

bool is_prefix(const Key& key, const Key& of) {
  return key.size() <= of.size() && std::equal(key.begin(), key.end(), of.begin());
}

void check_lines(const order::LineOptions& options, std::string_view text) {
  const order::LineOrder order(options);
  const bool whole_line_last = options.last_resort || order.is_plain();
  std::string_view last;
  Key last_key = key_of(order, last);
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    Key key = key_of(order, line);
    const bool equal = key == last_key;
    if (whole_line_last)
      require(equal == (line == last), "different lines have equal keys");
    else
      require(equal || !(is_prefix(key, last_key) || is_prefix(last_key, key)), "a key is a prefix of another");
    last = line;
    last_key = std::move(key);
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {"-t,\n-k2,2n\n\na,12,b\nb,-3.50,c\nc,,d\n,00123456789012345,a line that is long enough for words\n",
          "-k1.2b,3.1bfr\n-k2\n-s\n\n a b\tc\na  b c\n\nB a\n",
          "-h\n\n1K\n-2.5M\n0G\n",
          "-g\n-r\n\n1e5\nnan\n-inf\n0x1p3\n",
          "-V\n-u\n\na1.tar.gz\n.b~\n..\na01.tar.xz\n",
          "-M\n-z\n\nJan\n feb\n",
          "-df\n\na-b\nA B\n",
          "--lines\n-r\n\na\nab\n"};
}

std::vector<std::string> words() {
  return {"\n-k",
          "\n-t",
          "\n-n",
          "\n\n",
          ",",
          ".",
          "b,",
          "99999999999999999999",
          "nr",
          "-r\n",
          "1e",
          "1.2.3.tar",
          std::string(1, '\0'),
          "\x01",
          "0000",
          "123456789012345678901234567890123456789"};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  std::string_view text = fuzz::test::text_of(data, size);
  if (const std::optional<order::LineOptions> options = fuzz::test::take_options(text))
    fuzz::test::check_lines(*options, text);
  return 0;
}
