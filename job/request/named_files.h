// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// All files that a request names. No command may replace a file that it also reads, or write one file for two
// purposes: a report named out.1 would replace the records of rank 1. Files are compared by device and inode, so that
// links, /dev/stdout and redirections are seen through.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace hetsort::job {

class NamedFiles {
 public:
  enum class Purpose : std::uint8_t {
    kRead,
    kWrite,
    kInput,   ///< read completely before the output appears
    kOutput,  ///< written, and may replace one of the inputs
  };

  /// `role` names the file in messages: "INPUT", or a field. `path` may hold {rank}; "-" is the standard stream; an
  /// empty path is no file.
  void add(const std::string& role, const std::string& path, Purpose purpose);
  void read(const std::string& role, const std::string& path) { add(role, path, Purpose::kRead); }
  void write(const std::string& role, const std::string& path) { add(role, path, Purpose::kWrite); }

  /// Throws: RequestError that names both roles when two names stand for one file. Rank 0 compares the names of all
  /// ranks, the others those of the ranks on their host. Not collective: a collective must follow before any file is
  /// replaced.
  void check(const comm::Communicator& ranks) const;

  /// A note if no launcher started this process and so {rank} stays in some path; else "".
  std::string rank_note(const comm::Communicator& ranks) const;

  /// Whether standard error is one of the files that are written. Never for terminals and other devices: what they show
  /// is not read back.
  bool write_standard_error(const comm::Communicator& ranks) const;
  /// Whether a launcher passes on an output that is standard output.
  bool have_passed_on_output(const comm::Communicator& ranks) const;

 private:
  struct Name {
    std::string role;
    std::string path;
    Purpose purpose;

    bool is_written() const { return purpose == Purpose::kWrite || purpose == Purpose::kOutput; }
  };
  using Visit = std::function<void(const Name& name, const std::string& role, const std::string& path)>;
  /// Calls `visit` for each file, with the names of all ranks whose files this rank compares.
  void for_each(const comm::Communicator& ranks, const Visit& visit) const;

  std::vector<Name> names_;
};

/// The path of a file that rank 0 alone reads or writes, as the option `role` gives it. Throws: RequestError for a path
/// with {rank}, for an empty one and, without `stream`, for "-".
std::string one_file(const std::string& role, const std::string& path, bool stream = false);

/// Throws: RequestError if `path` ("-" = standard output) is a terminal, because records are not text. `instead` says
/// what the user can give.
void refuse_terminal(const std::string& path, std::string_view instead);

}  // namespace hetsort::job
