// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for people. A message on standard error never changes the outcome of a command: if it cannot be written, it is
// lost. Text on standard output is a result: if it cannot be written, the command fails.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace hetsort::cli {

/// Returns `text` on one line, without anything that would control a terminal: what is not printable becomes \n, \t, \r
/// or \xHH. If the locale is not one of UTF-8, so do characters with a byte that other terminals may obey.
std::string terminal_safe(std::string_view text);

/// `text` between single quotes, for bash and zsh: a quote in it becomes '\''.
std::string single_quoted(std::string_view text);
/// `text` as one word of a shell: quoted if it needs it.
std::string shell_word(std::string_view text);

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
/// Writes "hetsort: TEXT", escaped, as one line to standard error, unless that is limited to errors.
void print_remark(std::string_view text);
/// Writes "hetsort: note: TEXT", escaped, as one line to standard error, unless notes are off; see Talk.
void print_note(std::string_view text);
/// Prints the first note that it and its copies are called with.
std::function<void(const std::string&)> print_one_note();
/// Writes whole lines to standard error as they are, in place of a bar; none only remove the bar. Writes nothing if
/// standard error is limited to errors. Names inside them must have gone through terminal_safe().
void print_lines(std::string_view lines);

/// Shows `text` on the last line of a terminal, until the next message or bar takes its place. Not after end_bars().
void show_bar(std::string_view text);
/// Empties the line of the bar and lets no further one be shown, because the process ends with a message.
/// Returns whether there was one. Async-signal-safe.
bool end_bars() noexcept;

/// Writes to standard output. Throws: io::Error.
void write_output(std::string_view text);

}  // namespace hetsort::cli
