// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for people. A message on standard error never changes the outcome of a command: if it cannot be written, it is
// lost. Text on standard output is a result: if it cannot be written, the command fails.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// Returns `text` on one line, without anything that would control a terminal: control characters and bytes that are
/// not UTF-8 become \n, \t, \r or \xHH.
std::string terminal_safe(std::string_view text);

/// Writes "hetsort: TEXT", escaped, as one line to standard error.
void print_message(std::string_view text);
/// Writes "hetsort: note: TEXT", escaped, as one line to standard error.
void print_note(std::string_view text);
/// Prints the first note that it and its copies are called with.
std::function<void(const std::string&)> print_one_note();
/// Writes whole lines to standard error as they are. Names inside them must have gone through terminal_safe().
void print_lines(std::string_view lines);

/// Writes `text` to standard output. Throws: io::Error.
void write_output(std::string_view text);

}  // namespace hetsort::cli
