// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorting from C++: files, or the records that the processes of a program hold in memory.
//
//   #include <hetsort/sort.h>
//   hetsort::sort_files({.inputs = {"big.dat"}, .output = "sorted.dat"});
//
// With the ranks of an MPI program (<hetsort/mpi.h>) all of them make each call together; all return, or all throw the
// same hetsort::Error. Other errors are thrown only for mistakes in a call's arguments. docs/library.md has examples.
#pragma once

#include <hetsort/error.h>
#include <hetsort/ranks.h>
#include <hetsort/version.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hetsort {

/// Records of a fixed size and the keys inside, most significant first. A key is written as on the command line:
/// OFFSET:LENGTH or OFFSET:TYPE, and ":desc" behind it, for example "8:f64:desc". Without keys the first 10 bytes
/// count.
struct Layout {
  std::uint64_t record_bytes = 100;
  std::vector<std::string> keys{};
};

/// The key of a number that is a member of a record: key<double>(offsetof(Particle, mass), kDescending).
inline constexpr bool kDescending = true;
template <class Number>
std::string key(std::size_t offset, bool descending = false) {
  static_assert(std::is_arithmetic_v<Number> && sizeof(Number) <= 8, "a key is a number of at most 64 bits");
  const char* const kind = std::is_floating_point_v<Number> ? "f" : std::is_signed_v<Number> ? "i" : "u";
  return std::to_string(offset) + ":" + kind + std::to_string(8 * sizeof(Number)) + (descending ? ":desc" : "");
}

struct Progress {
  std::string phase;
  std::uint64_t done_bytes = 0;   ///< bytes done in all phases: on rank 0 by all ranks, on others by this rank
  std::uint64_t total_bytes = 0;  ///< bytes to do in all phases of all ranks; 0 = not known
};

/// How the caller follows a call and ends it.
struct Control {
  /// Once a stop is requested, on any rank, all ranks throw an Error of kind kCancelled. Nothing is left behind. When
  /// the ranks have begun to publish an output, a request comes too late.
  std::stop_token stop{};
  /// Called a few times a second on a thread of the library; must not throw.
  std::function<void(const Progress&)> progress{};
};

/// What a call may use of this machine.
struct Resources {
  std::string memory{};  ///< value of option -S: "4G", "50%". Empty = three quarters of what the system would give
  unsigned threads = 0;  ///< 0 = as many as processors
};

/// The options of `hetsort sort`, see its man page. {rank} in a path is the rank's number.
struct SortFiles {
  std::vector<std::string> inputs;  ///< paths of the inputs, at least one
  std::string output;               ///< may be one of the inputs; `more` can name further ones: {"--output", PATH}
  /// None = records of the sort benchmark, or lines if `more` asks for them; other text is refused then.
  std::optional<Layout> layout{};
  Resources resources{};
  std::vector<std::string> temp{};  ///< folders for runs that spill
  std::vector<double> speeds{};     ///< relative speeds of the ranks
  std::string cluster{};            ///< a cluster file
  std::string strategy{};
  /// Folders that keep runs until the output is in place: after a kill the same call continues.
  std::vector<std::string> checkpoint{};
  std::vector<std::string> more{};  ///< further options, one word each: {"--unique", "--header", "128"}
  int header_version = HETSORT_VERSION;
};

/// The outcome of a sort of files, the same on all ranks where nothing else is said.
struct SortResult {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t spilled_bytes = 0;  ///< bytes that this rank spilled
  double seconds = 0;
  std::string report{};  ///< text of option --report, on rank 0
};

/// Sorts files as `hetsort sort` does: an output appears only when it is complete and proven.
/// Collective: all ranks. Throws: Error.
SortResult sort_files(const SortFiles& request, const Ranks& ranks = {}, const Control& control = {});

struct SortMemory {
  Layout layout;
  Resources resources{};  ///< memory is for the call's own use, besides the records
  std::string mistake{};  ///< why this rank cannot take part: then the call fails on all ranks
  int header_version = HETSORT_VERSION;
};

/// Sorts the records of all ranks. This rank ends with the share that `sorted` has room for; the shares of all ranks
/// have as many records together as the ranks have now. `sorted` may be the memory of `records`: then the result is
/// copied there at the end. If it throws, the records are as before, and memory of `sorted` apart from them holds
/// anything. Collective: all ranks. Stable: ties stay in the order of the ranks, then of their records. Throws: Error.
void sort_in_memory(const Ranks& ranks, std::span<const std::byte> records, std::span<std::byte> sorted,
                    const SortMemory& request, const Control& control = {});

/// Sorts a vector, which becomes this rank's share: `share` records, or as many as it has.
template <class Record>
void sort_in_memory(const Ranks& ranks, std::vector<Record>& records, std::vector<std::string> keys,
                    std::optional<std::size_t> share = {}, const Resources& resources = {},
                    const Control& control = {}) {
  static_assert(std::is_trivially_copyable_v<Record>, "records are copied as bytes");
  SortMemory request{.layout = {sizeof(Record), std::move(keys)}, .resources = resources};
  if (share.value_or(records.size()) == records.size()) {
    sort_in_memory(ranks, std::as_bytes(std::span(records)), std::as_writable_bytes(std::span(records)), request,
                   control);
    return;
  }
  std::vector<Record> sorted;
  try {
    sorted.resize(*share);
  } catch (const std::exception& error) {  // other ranks wait for this one
    request.mistake = "no memory for a share of " + std::to_string(*share) + " records: " + error.what();
  }
  sort_in_memory(ranks, std::as_bytes(std::span(records)), std::as_writable_bytes(std::span(sorted)), request, control);
  records.swap(sorted);
}

/// The version of the library, as HETSORT_VERSION is of the headers.
int version();

}  // namespace hetsort
