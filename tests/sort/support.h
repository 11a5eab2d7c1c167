// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of sort/ share: files as bytes, pipes with a thread at the other end, one sort from options to result.
#pragma once

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "io/calls/buffer.h"
#include "sort/input/input.h"
#include "sort/merge/merge_runs.h"
#include "sort/sort.h"
#include "tests/io/scratch.h"
#include "tests/sort/inputs.h"
#include "tests/sort/oracle.h"

namespace hetsort::sort::test {

using io::test::Faults;
using io::test::Scratch;

inline Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  Bytes bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

inline void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// What precedes the records of file number `file`.
inline Bytes make_header(std::size_t bytes, std::size_t file) {
  Bytes header(bytes);
  for (std::size_t i = 0; i < bytes; ++i) header[i] = static_cast<std::byte>(7 * i + 31 * file + 1);
  return header;
}

/// The contents of a file with a header and records.
inline Bytes with_header(Bytes header, std::span<const std::byte> records) {
  header.insert(header.end(), records.begin(), records.end());
  return header;
}

/// Removes the header from the front of `bytes`. Expects that it is that of the first file.
inline void take_header(Bytes& bytes, std::size_t header_bytes) {
  ASSERT_GE(bytes.size(), header_bytes);
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(header_bytes);
  EXPECT_TRUE(Bytes(bytes.begin(), end) == make_header(header_bytes, 0));
  bytes.erase(bytes.begin(), end);
}

/// Names of `count` files that hold one output after the other, made from that of the first.
inline std::vector<std::string> volume_names(const std::string& name, std::size_t count) {
  std::vector<std::string> names{name};
  for (std::size_t volume = 1; volume < count; ++volume) names.push_back(name + ".volume" + std::to_string(volume));
  return names;
}

/// The records of these files, one after the other. Expects the header in each, whole records, and that the files have
/// equal numbers of records, the larger ones first. Equal parts of the bytes of lines may have one more or one less.
inline Bytes read_volumes(const std::vector<std::string>& paths, std::size_t header_bytes, std::size_t record_bytes,
                          bool lines = false) {
  Bytes all;
  std::vector<std::uint64_t> records;
  for (const std::string& path : paths) {
    Bytes volume = read_bytes(path);
    take_header(volume, header_bytes);
    EXPECT_EQ(volume.size() % record_bytes, 0U) << path;
    records.push_back(volume.size() / record_bytes);
    all.insert(all.end(), volume.begin(), volume.end());
  }
  const std::vector<std::uint64_t> equal = equal_parts(all.size() / record_bytes, paths.size());
  if (!lines) {
    EXPECT_EQ(records, equal);
  }
  for (const std::uint64_t each : records) EXPECT_TRUE(each <= equal.front() + 1 && each + 1 >= equal.back());
  return all;
}

/// Writes `bytes` to a descriptor, until its reader closes it, and closes it.
inline void feed(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put <= 0) break;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  ::close(fd);
}

/// Reads a descriptor to its end and closes it.
inline Bytes drain(int fd) {
  Bytes all;
  std::array<std::byte, 1 << 16> part{};
  for (ssize_t got = 0; (got = ::read(fd, part.data(), part.size())) > 0;)
    all.insert(all.end(), part.data(), part.data() + got);
  ::close(fd);
  return all;
}

/// A pipe. The sort opens one end by a path; a thread works at the other.
class Pipe {
 public:
  Pipe() {
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe(ends_.data()) != 0) std::abort();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { finish(); }

  /// Returns the path from which the sort reads `bytes`, which must outlive this object.
  std::string read_from(std::span<const std::byte> bytes) {
    return start(0, [bytes, fd = ends_[1]] { feed(fd, bytes); });
  }
  /// Returns the path to which the sort writes.
  std::string write_to() {
    return start(1, [this, fd = ends_[0]] { received_ = drain(fd); });
  }
  /// After the sort: returns what it wrote.
  Bytes finish() {
    if (ends_[own_] >= 0) ::close(std::exchange(ends_[own_], -1));
    if (other_.joinable()) other_.join();
    return std::move(received_);
  }

 private:
  template <typename Work>
  std::string start(std::size_t own, const Work& work) {
    own_ = own;
    other_ = std::thread(work);
    return "/proc/self/fd/" + std::to_string(ends_[own_]);
  }

  std::array<int, 2> ends_{};
  std::size_t own_ = 0;
  Bytes received_;
  std::thread other_;
};

/// The minimum memory of a sort with this many threads; with less the planner would use fewer threads.
inline std::uint64_t floor_memory(const RecordLayout& layout, std::size_t threads) {
  return threads * plan_memory({.layout = layout, .memory_bytes = 0, .threads = 1, .stream = true}).arena_bytes;
}

/// The options of a sort of `inputs`, all else as it is by default.
inline SortOptions sort_of_files(std::vector<std::string> inputs, std::string output, const RecordLayout& layout) {
  SortOptions options;
  options.input.paths = std::move(inputs);
  options.output.paths = {std::move(output)};
  options.layout = layout;
  // What spills is tested, whatever the records are.
  options.hooks.uses_order_of_input = false;
  // Several threads of a rank merge, however few the records are.
  options.hooks.min_stream_bytes = 0;
  return options;
}

/// The context of a single rank, as the driver puts it together.
class Bench {
 public:
  Bench(const RecordLayout& layout, const Input& input, std::uint64_t memory_bytes, std::size_t threads,
        io::Access access = io::Access::kAuto) {
    MemoryRequest request{.layout = layout, .memory_bytes = memory_bytes, .threads = threads};
    request.stream = input.is_stream();
    request.input_bytes = input.total_bytes();
    if (!request.stream) static_cast<void>(input.place(0, input.total_bytes(), request.placed_bytes));
    const MemoryPlan plan = plan_memory(request);
    arena_ = io::Buffer(plan.arena_bytes);
    options_.access = access;
    context_ = {layout, plan, arena_.span(), &alone_, &monitor_, &options_};
  }

  const RankContext& context() const { return context_; }

 private:
  comm::Communicator alone_;
  Monitor monitor_;
  io::Buffer arena_;
  SortOptions options_;
  RankContext context_;
};

/// One rank's sort. Throws: what sort_records() throws.
inline RankResult run_sort(const SortOptions& options) {
  comm::Communicator alone;
  Monitor monitor;
  RankResult result;
  sort_records(options, alone, monitor, result);
  return result;
}

}  // namespace hetsort::sort::test
