// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What hetsort is measured against: the sample sort of the textbooks, in memory, for equal nodes. Each rank reads its
// file, sorts it, takes splitters from a sample of all ranks, sends every other rank its whole part at once, merges
// what came and writes it. No blocks, no spilling, no proof, shares as the sample gives them; the same messages as
// hetsort's.
//
//   mpirun -n P plain_sample_sort IN-PREFIX OUT-PREFIX [SPEEDS] [blocking]
//
// reads IN-PREFIX<rank>, writes OUT-PREFIX<rank>, and prints the seconds between, when all records are in memory.
// SPEEDS, as in 1,1,1.5,1.5: rank r gets this part of the output; by default all get the same. `blocking`: the thread
// that sorts exchanges with one rank after the other, and sends to it before or after it receives from it, never at
// once.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
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

/// How the ranks share the output, and how they send it.
struct Job {
  std::string input;
  std::string output;
  std::vector<double> speeds{};  ///< empty = equal ones
  bool blocking = false;
};

std::vector<Record> choose_splitters(const std::vector<Record>& records, const Job& job, Communicator& ranks) {
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
  std::vector<double> speeds = job.speeds;
  if (speeds.empty()) speeds.assign(static_cast<std::size_t>(ranks.size()), 1.0);
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  double before = 0;
  for (std::size_t part = 0; part + 1 < speeds.size() && !all.empty(); ++part) {
    before += speeds[part] / sum;
    splitters.push_back(
        all[std::min(all.size() - 1, static_cast<std::size_t>(before * static_cast<double>(all.size())))]);
  }
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

void wait_for(const std::atomic<int>& open, Communicator& ranks) {
  while (open > 0) {
    if (ranks.progress()) continue;
    if (ranks.failed()) ranks.drain();
    ranks.check();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Sends and receives whole parts, all at once or, if the job blocks, one after the other. starts: where each rank's
/// part begins in what came, and the end.
std::vector<Record> exchange(const std::vector<Record>& records, const std::vector<std::uint64_t>& counts,
                             const Job& job, Communicator& ranks, std::vector<std::uint64_t>& starts) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto me = static_cast<std::size_t>(ranks.rank());
  starts.assign(1, 0);
  for (std::size_t from = 0; from < size; ++from) starts.push_back(starts.back() + counts[from * size + me]);
  std::vector<Record> came(starts.back());
  std::vector<std::uint64_t> sent{0};
  for (std::size_t to = 0; to < size; ++to) sent.push_back(sent.back() + counts[me * size + to]);
  std::copy_n(records.begin() + static_cast<std::ptrdiff_t>(sent[me]), counts[me * size + me],
              came.begin() + static_cast<std::ptrdiff_t>(starts[me]));
  std::atomic<int> open{0};
  const int tag = ranks.take_tags(1);
  const auto begin = [&](std::size_t rank, bool sends) {
    ++open;
    if (sends)
      ranks.send(static_cast<int>(rank), tag,
                 std::as_bytes(std::span(records.data() + sent[rank], counts[me * size + rank])), [&open] { --open; });
    else
      ranks.receive(static_cast<int>(rank), tag,
                    std::as_writable_bytes(std::span(came.data() + starts[rank], starts[rank + 1] - starts[rank])),
                    [&open](std::size_t) { --open; });
    if (job.blocking) wait_for(open, ranks);
  };
  // In each turn the ranks form pairs. The lower one of a pair sends first.
  for (std::size_t turn = 0; turn < size; ++turn) {
    const std::size_t other = (turn + size - me) % size;
    if (other == me) continue;
    begin(other, me < other);
    begin(other, me > other);
  }
  wait_for(open, ranks);
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

void sort_files(const Job& job, Communicator& ranks) {
  if (!job.speeds.empty() && job.speeds.size() != static_cast<std::size_t>(ranks.size()))
    throw std::runtime_error("SPEEDS has not a number for each rank");
  const std::string rank = std::to_string(ranks.rank());
  std::vector<Record> records = read_records(job.input + rank);
  ranks.barrier();
  const auto begin = std::chrono::steady_clock::now();
  records = sorted(records);
  const std::vector<std::uint64_t> counts = count_parts(records, choose_splitters(records, job, ranks), ranks);
  std::vector<std::uint64_t> starts;
  records = exchange(records, counts, job, ranks, starts);
  merge_parts(records, std::move(starts));
  ranks.barrier();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (ranks.rank() == 0) std::printf("%.4f\n", seconds.count());
  write_records(job.output + rank, records);
}

/// None if the words are none of a job.
std::optional<Job> job_of(int argc, char** argv) {
  if (argc < 3 || argc > 5) return std::nullopt;
  Job job{.input = argv[1], .output = argv[2]};
  job.blocking = std::string_view(argv[argc - 1]) == "blocking" && argc > 3;
  if (argc == (job.blocking ? 4 : 3)) return job;
  std::istringstream words(argv[3]);
  for (std::string word; std::getline(words, word, ',');) job.speeds.push_back(std::strtod(word.c_str(), nullptr));
  const bool good = !job.speeds.empty() && std::ranges::all_of(job.speeds, [](double speed) { return speed > 0; });
  return good && argc == (job.blocking ? 5 : 4) ? std::optional(job) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Job> job = job_of(argc, argv);
  if (!job) {
    std::fprintf(stderr, "usage: plain_sample_sort IN-PREFIX OUT-PREFIX [SPEEDS] [blocking]\n");
    return 2;
  }
  hetsort::comm::CommunicatorOptions options;
  if (job->blocking) options.mode = hetsort::comm::ExchangeMode::kInline;
  const auto ranks = hetsort::comm::make_communicator(hetsort::comm::MpiUse::kAuto, options);
  try {
    sort_files(*job, *ranks);
  } catch (const std::exception& error) {
    ranks->fail(error.what());
  }
  const std::string failure = ranks->conclude();
  if (!failure.empty() && ranks->rank() == 0) std::fprintf(stderr, "plain_sample_sort: %s\n", failure.c_str());
  return failure.empty() ? 0 : 2;
}
