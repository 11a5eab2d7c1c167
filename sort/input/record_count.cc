// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/record_count.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "comm/launcher.h"
#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

template <typename Call, typename File>
bool find_file(const Call& call, File file, struct stat& into) {
  return io::retry_interrupted([&] { return call(file, &into); }) == 0;
}

}  // namespace

bool is_forwarded(const std::string& path) {
  struct stat standard_input {};
  if (!comm::launched_rank() || !find_file(io::syscalls::fstat, STDIN_FILENO, standard_input) ||
      S_ISREG(standard_input.st_mode))
    return false;
  if (path == "-") return true;
  struct stat named {};
  return find_file(io::syscalls::stat, path.c_str(), named) && named.st_dev == standard_input.st_dev &&
         named.st_ino == standard_input.st_ino;
}

void require_record_count(const std::vector<std::string>& inputs, std::optional<std::uint64_t> expected_records) {
  if (expected_records) return;
  if (inputs.empty() ? is_forwarded("-") : std::any_of(inputs.begin(), inputs.end(), is_forwarded))
    throw RequestError(
        "read standard input: a launcher forwards it, and if the launcher dies the input looks complete although it is "
        "cut short; give the number of records with --records, or name a file or FIFO (with --root-input if only rank "
        "0 has it)");
}

void check_record_count(std::optional<std::uint64_t> expected_records, std::uint64_t records) {
  if (expected_records && *expected_records != records)
    throw RequestError(
        fmt::format("the input has {} records and --records is {}: the input is cut short, or the number "
                    "is wrong",
                    records, *expected_records));
}

}  // namespace hetsort::sort
