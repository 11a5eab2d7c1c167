// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The sample sort that many MPI programs have, std::sort and MPI_Alltoallv, and the one call that replaces it. Both
// sort the same records in turns. Each line has the wall seconds of the call and of the sample sort.
//
//   mpirun -n 4 sample_sort 10000000 5      10^7 records of 100 bytes in all, five times
#include <hetsort/mpi.h>
#include <hetsort/sort.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

struct Record {
  unsigned char key[10];
  unsigned char rest[90];
  bool operator<(const Record& other) const { return std::memcmp(key, other.key, sizeof key) < 0; }
};
using Records = std::vector<Record>;

int ranks = 1;
int rank = 0;
MPI_Datatype record_type = MPI_DATATYPE_NULL;

Records random_records(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Records records(count);
  for (Record& record : records)
    for (std::size_t at = 0; at < sizeof record; at += 4) {
      const std::uint64_t number = random();
      std::memcpy(reinterpret_cast<unsigned char*>(&record) + at, &number, 4);
    }
  return records;
}

/// Where the numbers of records begin, and their end.
std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> starts(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
  return starts;
}

/// The last record of each rank but the last, by a sample of all ranks.
Records splitters_of(const Records& sorted) {
  constexpr int kSamples = 1000;
  Records sample(kSamples);
  for (std::size_t i = 0; i < kSamples && !sorted.empty(); ++i) sample[i] = sorted[sorted.size() * i / kSamples];
  Records all(sample.size() * static_cast<std::size_t>(ranks));
  MPI_Allgather(sample.data(), kSamples, record_type, all.data(), kSamples, record_type, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  Records splitters;
  for (std::size_t part = 1; part < static_cast<std::size_t>(ranks); ++part) splitters.push_back(all[kSamples * part]);
  return splitters;
}

void sample_sort(Records& records) {
  std::sort(records.begin(), records.end());
  std::vector<int> send;
  auto from = records.begin();
  for (const Record& splitter : splitters_of(records)) {
    const auto end = std::lower_bound(from, records.end(), splitter);
    send.push_back(static_cast<int>(end - from));
    from = end;
  }
  send.push_back(static_cast<int>(records.end() - from));
  std::vector<int> receive(send.size());
  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::vector<int> starts = starts_of(receive);
  Records received(static_cast<std::size_t>(starts.back()));
  MPI_Alltoallv(records.data(), send.data(), starts_of(send).data(), record_type, received.data(), receive.data(),
                starts.data(), record_type, MPI_COMM_WORLD);
  // Neighbouring parts are merged until one is left.
  while (starts.size() > 2) {
    std::vector<int> merged;
    for (std::size_t part = 0; part < starts.size(); part += 2) {
      merged.push_back(starts[part]);
      if (part + 1 == starts.size()) break;
      const int end = starts[std::min(part + 2, starts.size() - 1)];
      std::inplace_merge(received.begin() + starts[part], received.begin() + starts[part + 1], received.begin() + end);
    }
    if (merged.back() != starts.back()) merged.push_back(starts.back());
    starts = merged;
  }
  records.swap(received);
}

void hetsort_sort(Records& records) { hetsort::sort_in_memory(hetsort::ranks_of(MPI_COMM_WORLD), records, {"0:10"}); }

/// The sum of all bytes' hash, which no order changes.
std::uint64_t digest(const Records& records) {
  std::uint64_t sum = 0;
  for (const Record& record : records) {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < sizeof record; at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, reinterpret_cast<const unsigned char*>(&record) + at, 4);
      hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    }
    sum += hash;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Whether the records are in order within the ranks and between them.
bool in_order(const Records& records) {
  Record ends[2] = {};  // ranks without records do not occur here
  if (!records.empty()) ends[0] = records.front(), ends[1] = records.back();
  Records all(2 * static_cast<std::size_t>(ranks));
  MPI_Allgather(ends, 2, record_type, all.data(), 2, record_type, MPI_COMM_WORLD);
  int good = std::is_sorted(records.begin(), records.end()) && std::is_sorted(all.begin(), all.end()) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return good == 1;
}

/// Wall seconds until all ranks have sorted. Ends the job if the records are not sorted.
double seconds_of(void (*sort)(Records&), Records records) {
  const std::uint64_t before = digest(records);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  sort(records);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  if (!in_order(records) || digest(records) != before) {
    std::fputs("the records are not sorted\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return seconds;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_contiguous(sizeof(Record), MPI_BYTE, &record_type);
  MPI_Type_commit(&record_type);
  const std::size_t total = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  int failed = 0;
  try {
    const Records records =
        random_records(total / static_cast<std::size_t>(ranks), static_cast<std::uint64_t>(rank) + 1);
    for (int round = 0; round < rounds; ++round) {
      const double ours = seconds_of(hetsort_sort, records);
      const double plain = seconds_of(sample_sort, records);
      if (rank == 0) std::printf("%.4f %.4f\n", ours, plain);
    }
  } catch (const hetsort::Error& error) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    failed = 2;
  }
  MPI_Type_free(&record_type);
  MPI_Finalize();
  return failed;
}
