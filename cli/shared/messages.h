// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for people. A message on standard error never changes the outcome of a command: if it cannot be written, it is
// lost. Text on standard output is a result: if it cannot be written, the command fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// Returns `text` on one line, without anything that would control a terminal: control characters and bytes that are
/// not UTF-8 become \n, \t, \r or \xHH.
std::string terminal_safe(std::string_view text);

/// What is written to standard error.
enum class Talk : std::uint8_t {
  kAll,
  kOnlyAsked,  ///< no notes, and no progress unless an option asks for it
  kErrors,     ///< errors only: standard error is a file that gets records
};
/// The minimum of `talk` and what was set before holds from now on. Thread safety: any thread.
void limit_talk(Talk talk);
Talk talk();

/// Writes "hetsort: TEXT", escaped, as one line to standard error: an error, or a result that is the command's only
/// one.
void print_message(std::string_view text);
/// The same for what the user can do without; see Talk.
void print_remark(std::string_view text);
/// The same with "hetsort: note: ".
void print_note(std::string_view text);
/// Writes whole lines to standard error as they are, see Talk. Names inside them must have gone through
/// terminal_safe().
void print_lines(std::string_view lines);

/// Writes to standard output. Throws: io::Error.
void write_output(std::string_view text);

}  // namespace hetsort::cli
