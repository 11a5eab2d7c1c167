// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// All files that a command line names. No command may replace a file that it also reads, or write one file for two
// purposes: `--report out.1` would replace the records of rank 1. Files are compared by device and inode, so that
// links, /dev/stdout and redirections are seen through.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::cli {

class NamedFiles {
 public:
  enum class Purpose : std::uint8_t {
    kRead,
    kWrite,
    kInput,   ///< read completely before the output appears
    kOutput,  ///< written, and may replace one of the inputs
  };

  /// `role` names the file in messages: "INPUT", "--report". `path` may hold {rank}; "-" is the standard stream; an
  /// empty path is no file.
  void add(const std::string& role, const std::string& path, Purpose purpose);
  void read(const std::string& role, const std::string& path) { add(role, path, Purpose::kRead); }
  void write(const std::string& role, const std::string& path) { add(role, path, Purpose::kWrite); }

  /// Keeps messages out of files that are written: standard error may be one of them (`>out 2>&1`, `-o /dev/stderr`).
  /// Then only errors are printed from now on, and those only once nothing more is written. Launchers often write
  /// standard output and standard error to one file, without a sign of it here: under a launcher, a kOutput that is
  /// standard output ends notes, and progress unless an option asks for it.
  /// Throws: UsageError that names both roles when two names stand for one file. Rank 0 compares the names of all
  /// ranks, the others those of the ranks on their host. Not collective: a collective must follow before any file is
  /// replaced.
  void check(const comm::Communicator& ranks) const;

  /// A note if no launcher started this process and so {rank} stays in some path; else "".
  std::string rank_note(const comm::Communicator& ranks) const;

  /// Whether standard error is the file `path` ("-" = standard output). Never for terminals and other devices: what
  /// they show is not read back.
  static bool is_standard_error(const std::string& path);

 private:
  struct Name {
    std::string role;
    std::string path;
    Purpose purpose;
  };
  std::vector<Name> names_;
};

/// The path of a file that rank 0 alone reads or writes, as the option `role` gives it. Throws: UsageError for a path
/// with {rank}, for an empty one and, without `stream`, for "-".
std::string one_file(const std::string& role, const std::string& path, bool stream = false);

/// Throws: UsageError if `path` ("-" = standard output) is a terminal, because records are not text. `instead` says
/// what the user can give.
void refuse_terminal(const std::string& path, std::string_view instead);

}  // namespace hetsort::cli
