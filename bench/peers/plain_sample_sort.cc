// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What hetsort is measured against: the sample sort of the textbooks, in memory, for equal nodes. Each rank reads its
// file, sorts it, takes splitters from a sample of all ranks, sends every other rank its whole part at once, merges
// what came and writes it. No blocks, no spilling, no proof, shares as the sample gives them; the same messages as
// hetsort's.
//
//   mpirun -n P plain_sample_sort IN-PREFIX OUT-PREFIX      reads IN-PREFIX<rank>, writes OUT-PREFIX<rank>; prints the
//                                                           seconds between, when all records are in memory
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "comm/launcher.h"

namespace {

using hetsort::comm::Bytes;
using hetsort::comm::Communicator;

constexpr std::size_t kRecordBytes = 100;
constexpr std::size_t kKeyBytes = 10;
constexpr std::size_t kSamplesARank = 1000;

struct Record {
  std::array<char, kRecordBytes> bytes;
  bool operator<(const Record& other) const { return std::memcmp(bytes.data(), other.bytes.data(), kKeyBytes) < 0; }
};

std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Record> records(static_cast<std::size_t>(file.tellg()) / kRecordBytes);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(records.data()), static_cast<std::streamsize>(records.size() * kRecordBytes));
  return records;
}

void write_records(const std::string& path, const std::vector<Record>& records) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(records.data()),
             static_cast<std::streamsize>(records.size() * kRecordBytes));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

/// Sorts (key, place) pairs, then moves each record once.
std::vector<Record> sorted(const std::vector<Record>& records) {
  struct Entry {
    std::array<char, kKeyBytes> key;
    std::uint32_t place;
  };
  std::vector<Entry> entries(records.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    std::copy_n(records[i].bytes.begin(), kKeyBytes, entries[i].key.begin());
    entries[i].place = i;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::memcmp(a.key.data(), b.key.data(), kKeyBytes) < 0; });
  std::vector<Record> result(records.size());
  for (std::size_t i = 0; i < entries.size(); ++i) result[i] = records[entries[i].place];
  return result;
}

std::vector<Record> choose_splitters(const std::vector<Record>& records, Communicator& ranks) {
  Bytes mine(records.empty() ? 0 : kSamplesARank * kRecordBytes);
  for (std::size_t i = 0; i * kRecordBytes < mine.size(); ++i)
    std::memcpy(&mine[i * kRecordBytes], &records[records.size() * i / kSamplesARank], kRecordBytes);
  const Bytes sample = ranks.all_reduce(std::move(mine), [](Bytes low, const Bytes& high) {
    low.insert(low.end(), high.begin(), high.end());
    return low;
  });
  std::vector<Record> all(sample.size() / kRecordBytes);
  if (!all.empty()) std::memcpy(all.data(), sample.data(), sample.size());
  std::sort(all.begin(), all.end());
  std::vector<Record> splitters;
  const auto parts = static_cast<std::size_t>(ranks.size());
  for (std::size_t part = 1; part < parts && !all.empty(); ++part) splitters.push_back(all[all.size() * part / parts]);
  return splitters;
}

/// The number of records that each rank sends to each rank: counts[from * size + to].
std::vector<std::uint64_t> count_parts(const std::vector<Record>& records, const std::vector<Record>& splitters,
                                       Communicator& ranks) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<std::uint64_t> counts(size * size);
  auto from = records.begin();
  for (std::size_t to = 0; to < size; ++to) {
    const auto end = to < splitters.size() ? std::lower_bound(from, records.end(), splitters[to]) : records.end();
    counts[static_cast<std::size_t>(ranks.rank()) * size + to] = static_cast<std::uint64_t>(end - from);
    from = end;
  }
  ranks.all_reduce_sum(counts);
  return counts;
}

/// Sends and receives whole parts, all at once. starts: where each rank's part begins in what came, and the end.
std::vector<Record> exchange(const std::vector<Record>& records, const std::vector<std::uint64_t>& counts,
                             Communicator& ranks, std::vector<std::uint64_t>& starts) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto me = static_cast<std::size_t>(ranks.rank());
  starts.assign(1, 0);
  for (std::size_t from = 0; from < size; ++from) starts.push_back(starts.back() + counts[from * size + me]);
  std::vector<Record> came(starts.back());
  std::atomic<int> open{0};
  const int tag = ranks.take_tags(1);
  std::uint64_t sent = 0;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::uint64_t count = counts[me * size + rank];
    if (rank == me) {
      std::copy_n(records.begin() + static_cast<std::ptrdiff_t>(sent), count,
                  came.begin() + static_cast<std::ptrdiff_t>(starts[me]));
    } else {
      open += 2;
      const std::span<Record> into(came.data() + starts[rank], starts[rank + 1] - starts[rank]);
      ranks.receive(static_cast<int>(rank), tag, std::as_writable_bytes(into), [&open](std::size_t) { --open; });
      ranks.send(static_cast<int>(rank), tag, std::as_bytes(std::span(records.data() + sent, count)),
                 [&open] { --open; });
    }
    sent += count;
  }
  while (open > 0) {
    if (ranks.failed()) ranks.drain();
    ranks.check();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return came;
}

void merge_parts(std::vector<Record>& records, std::vector<std::uint64_t> starts) {
  const auto at = [&](std::size_t part) { return records.begin() + static_cast<std::ptrdiff_t>(starts[part]); };
  while (starts.size() > 2) {
    std::vector<std::uint64_t> fewer;
    for (std::size_t part = 0; part + 1 < starts.size(); part += 2) {
      fewer.push_back(starts[part]);
      if (part + 2 < starts.size()) std::inplace_merge(at(part), at(part + 1), at(part + 2));
    }
    if (fewer.back() != starts.back()) fewer.push_back(starts.back());
    starts = std::move(fewer);
  }
}

void sort_files(const std::string& input, const std::string& output, Communicator& ranks) {
  const std::string rank = std::to_string(ranks.rank());
  std::vector<Record> records = read_records(input + rank);
  ranks.barrier();
  const auto begin = std::chrono::steady_clock::now();
  records = sorted(records);
  const std::vector<std::uint64_t> counts = count_parts(records, choose_splitters(records, ranks), ranks);
  std::vector<std::uint64_t> starts;
  records = exchange(records, counts, ranks, starts);
  merge_parts(records, std::move(starts));
  ranks.barrier();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (ranks.rank() == 0) std::printf("%.4f\n", seconds.count());
  write_records(output + rank, records);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: plain_sample_sort IN-PREFIX OUT-PREFIX\n");
    return 2;
  }
  const auto ranks = hetsort::comm::make_communicator(hetsort::comm::MpiUse::kAuto, {});
  try {
    sort_files(argv[1], argv[2], *ranks);
  } catch (const std::exception& error) {
    ranks->fail(error.what());
  }
  const std::string failure = ranks->conclude();
  if (!failure.empty() && ranks->rank() == 0) std::fprintf(stderr, "plain_sample_sort: %s\n", failure.c_str());
  return failure.empty() ? 0 : 2;
}
