// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/hello.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <string_view>

#include "comm/base/crc32c.h"

namespace hetsort::comm {

namespace {

using Lines = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kForm = "hetsort hello ";
constexpr std::string_view kFormNumber = "1\n";
constexpr std::string_view kChecksum = "crc32c ";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kHead = kForm.size() + kFormNumber.size() + kChecksum.size() + kDigits + 1;
/// Maximum bytes of a value; longer values are cut. All lines of a hello fit.
constexpr std::size_t kMaxValueBytes = 200;
/// Digits of a build that messages show.
constexpr std::size_t kShownBuildDigits = 16;

std::string checksum(std::string_view contents) {
  return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(contents))));
}

/// Replaces what is not printable ASCII: it would end the line, or reach a terminal.
std::string one_line(std::string text, std::size_t max_bytes) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.substr(0, max_bytes);
}

HelloBytes encode_lines(std::string contents) {
  contents.resize(kHelloBytes - kHead);
  const std::string text = fmt::format("{}{}{}{}\n{}", kForm, kFormNumber, kChecksum, checksum(contents), contents);
  HelloBytes bytes{};
  std::copy_n(std::as_bytes(std::span(text)).begin(), bytes.size(), bytes.begin());
  return bytes;
}

Lines decode_lines(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kForm))
    throw std::runtime_error(
        "sent no hello: it is no hetsort of this form, or the network or memory changed the message");
  const std::string_view contents = text.size() == kHelloBytes ? text.substr(kHead) : std::string_view();
  const std::string head = fmt::format("{}{}{}{}\n", kForm, kFormNumber, kChecksum, checksum(contents));
  if (contents.empty() || !text.starts_with(head))
    throw std::runtime_error("sent a hello that arrived damaged: the network or memory changed it");
  Lines lines;
  text = contents;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    const std::size_t space = std::min(line.find(' '), line.size());
    lines[std::string(line.substr(0, space))] = line.substr(std::min(space + 1, line.size()));
  }
  return lines;
}

/// The bell that a line names; none if it is no bell.
BellAddress bell_of(std::string_view text) {
  constexpr std::size_t kPlaceDigits = 16;
  BellAddress bell;
  if (text.size() <= kPlaceDigits) return {};
  const char* const number = text.data() + kPlaceDigits + 1;
  const char* const end = text.data() + text.size();
  const auto [place_end, place_error] = std::from_chars(text.data(), number - 1, bell.place, 16);
  const auto [number_end, number_error] = std::from_chars(number, end, bell.number, 16);
  const bool is_whole =
      place_error == std::errc() && place_end == number - 1 && number_error == std::errc() && number_end == end;
  return is_whole ? bell : BellAddress{};
}

std::string described(int rank, const Hello& hello) {
  return fmt::format("rank {} ({}) is hetsort {}, build {}, {}", rank, hello.host, hello.identity.version,
                     hello.identity.build.substr(0, kShownBuildDigits), hello.identity.machine);
}

bool same(const ProgramIdentity& a, const ProgramIdentity& b) {
  return a.version == b.version && a.build == b.build && a.machine == b.machine;
}

}  // namespace

HelloBytes encode(const Hello& hello) {
  std::string contents;
  const auto add = [&](std::string_view key, const std::string& value) {
    contents += fmt::format("{} {}\n", key, one_line(value, kMaxValueBytes));
  };
  add("version", hello.identity.version);
  add("build", hello.identity.build);
  add("machine", hello.identity.machine);
  add("host", hello.host);
  if (hello.bell.place != 0) add("bell", fmt::format("{:016x} {:05x}", hello.bell.place, hello.bell.number));
  return encode_lines(std::move(contents));
}

Hello decode_hello(std::span<const std::byte> bytes) {
  Lines lines = decode_lines(bytes);
  return {{lines["version"], lines["build"], lines["machine"]}, lines["host"], bell_of(lines["bell"])};
}

HelloBytes encode(const HelloVerdict& verdict) {
  std::string contents = fmt::format("host {}\n", one_line(verdict.host, kMaxValueBytes));
  constexpr std::string_view kKey = "refused ";
  const std::size_t left = kHelloBytes - kHead - contents.size() - kKey.size() - 1;
  if (!verdict.refusal.empty()) contents += fmt::format("{}{}\n", kKey, one_line(verdict.refusal, left));
  return encode_lines(std::move(contents));
}

HelloVerdict decode_verdict(std::span<const std::byte> bytes) {
  Lines lines = decode_lines(bytes);
  return {lines["host"], lines["refused"]};
}

std::string refusal(const std::vector<Hello>& hellos) {
  const auto differs = [&](const Hello& hello) { return !same(hello.identity, hellos.front().identity); };
  const auto first = std::find_if(hellos.begin(), hellos.end(), differs);
  if (first == hellos.end()) return {};
  const auto count = std::count_if(first, hellos.end(), differs);
  return fmt::format("the ranks run different programs: {}; {}{}; install the same build on all hosts",
                     described(0, hellos.front()), described(static_cast<int>(first - hellos.begin()), *first),
                     count > 1 ? fmt::format(" ({} ranks differ from rank 0)", count) : "");
}

}  // namespace hetsort::comm
