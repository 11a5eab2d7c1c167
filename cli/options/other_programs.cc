// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options/other_programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>

namespace hetsort::cli {

namespace {

constexpr std::string_view kLinesAreChecked = "'hetsort sort -c' checks lines";

/// The first that fits counts.
constexpr std::array kOtherOptions{
    OtherOption{"sort", "--check=", "its WORDs are diagnose-first, quiet and silent"},
    OtherOption{"sort", "--compress-program", "hetsort has --compress-spill FORMAT"},
    OtherOption{"sort", "-y", "hetsort has -S"},
    OtherOption{"sort", "--by", "hetsort has -k for columns of lines, and --key for bytes of records"},
    OtherOption{"sort", "--top", "hetsort sorts everything; 'head -n N' takes the first lines"},
    OtherOption{"validate", "--lines", kLinesAreChecked},
    OtherOption{"validate", "-k", kLinesAreChecked},
    OtherOption{"validate", "-n", kLinesAreChecked},
    OtherOption{"validate", "-t", kLinesAreChecked},
    OtherOption{"validate", "-z", kLinesAreChecked},
    OtherOption{"", "--version", "'hetsort --version' prints the version", "help"},
    OtherOption{"", "--delimiter", "hetsort has -t (--field-separator)", "field-separator"},
    OtherOption{"", "--field-delimiter", "hetsort has -t (--field-separator)", "field-separator"},
    OtherOption{"", "--separator", "hetsort has -t (--field-separator)", "field-separator"},
    OtherOption{"", "-t", "hetsort has -j", "threads"},
    OtherOption{"", "-p", "hetsort has -j", "threads"},
    OtherOption{"", "--parallel", "hetsort has -j", "threads"},
    OtherOption{"", "--jobs", "hetsort has -j", "threads"},
    OtherOption{"", "--cores", "hetsort has -j", "threads"},
    OtherOption{"", "--cpus", "hetsort has -j", "threads"},
    OtherOption{"", "--num-threads", "hetsort has -j", "threads"},
    OtherOption{"", "--nthreads", "hetsort has -j", "threads"},
    OtherOption{"", "--ram", "hetsort has -S", "memory"},
    OtherOption{"", "--max-memory", "hetsort has -S", "memory"},
    OtherOption{"", "--memory-limit", "hetsort has -S", "memory"},
    OtherOption{"", "--tmp", "hetsort has -T", "temp"},
    OtherOption{"", "--tmpdir", "hetsort has -T", "temp"},
    OtherOption{"", "--record-length", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--record-bytes", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--reclen", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--size", "hetsort has --record-size", "record-size"},
    OtherOption{"", "--key-size", "hetsort has --key OFFSET:BYTES", "key"},
    OtherOption{"", "--text", "hetsort has --lines", "lines"},
    OtherOption{"", "--count", "hetsort has --records", "records"},
    OtherOption{"", "--num-records", "hetsort has --records", "records"},
};

/// Whether `given` is `name`, with or without a value.
bool is_option(std::string_view name, const std::string& given) {
  if (given == name) return true;
  if (!given.starts_with(name)) return false;
  const bool takes_letter_value = name.size() == 2;
  return takes_letter_value || name.ends_with('=') || given[name.size()] == '=';
}

/// A place in a line as old versions of sort(1) took it: FIELD[.CHARACTER][OPTIONS], counted from 0.
struct OldPlace {
  unsigned long field = 0;
  unsigned long character = 0;
  std::string letters;
};

std::optional<OldPlace> old_place(const std::string& text, char sign) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kMaxDigits = 9;
  if (text.size() < 2 || text.front() != sign || kDigits.find(text[1]) == kDigits.npos) return std::nullopt;
  const std::size_t field_end = std::min(text.find_first_not_of(kDigits, 1), text.size());
  const bool has_character = field_end < text.size() && text[field_end] == '.';
  const std::size_t character = has_character ? field_end + 1 : field_end;
  const std::size_t end = has_character ? std::min(text.find_first_not_of(kDigits, character), text.size()) : field_end;
  if (field_end - 1 > kMaxDigits || end - character > kMaxDigits) return std::nullopt;
  OldPlace place{std::strtoul(text.c_str() + 1, nullptr, 10), 0, text.substr(end)};
  if (end > character) place.character = std::strtoul(text.c_str() + character, nullptr, 10);
  return place.letters.find_first_not_of("bdfghiMnRrV") == std::string::npos ? std::optional(place) : std::nullopt;
}

/// The -k that means the same.
std::string new_key(const OldPlace& first, const std::optional<OldPlace>& last) {
  std::string key = fmt::format("{}", first.field + 1);
  if (first.character > 0) key += fmt::format(".{}", first.character + 1);
  key += first.letters;
  if (!last) return key;
  return key +
         (last->character == 0 ? fmt::format(",{}", last->field)
                               : fmt::format(",{}.{}", last->field + 1, last->character)) +
         last->letters;
}

}  // namespace

std::string spelled_here(const std::string& command, const std::string& given) {
  if (command != "sort") return given;
  if (given == "--check=quiet" || given == "--check=silent") return "-C";
  return given == "--check=diagnose-first" ? "-c" : given;
}

const OtherOption* other_option(const std::string& command, const std::string& given, const job::Options& options) {
  const auto* const other = std::ranges::find_if(kOtherOptions, [&](const OtherOption& one) {
    if (!is_option(one.name, given)) return false;
    return one.command.empty() ? options.find(one.serves) != nullptr : command == one.command;
  });
  return other == kOtherOptions.end() ? nullptr : other;
}

std::string old_key_message(Arguments arguments, const std::string& given) {
  const auto option = std::ranges::find_if(
      arguments, [&](const std::string& argument) { return argument.size() > 1 && argument.starts_with(given); });
  if (option == arguments.end() || option == arguments.begin()) return "";
  const std::optional<OldPlace> first = old_place(*std::prev(option), '+');
  const std::optional<OldPlace> last = old_place(*option, '-');
  if (!first || !last) return "";
  return fmt::format("'{} {}' is a key of old versions of sort(1); write -k {}", *std::prev(option), *option,
                     new_key(*first, last));
}

std::string old_key_message(const std::string& operand) {
  const std::optional<OldPlace> place = old_place(operand, '+');
  if (!place || ::access(operand.c_str(), F_OK) == 0) return "";
  return fmt::format("there is no file '{}'; if it is a key of old versions of sort(1), write -k {}", operand,
                     new_key(*place, std::nullopt));
}

}  // namespace hetsort::cli
