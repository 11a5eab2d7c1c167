// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What hetsort is measured against: the sample sort of the textbooks, in memory, for equal nodes. Each rank reads its
// file, sorts it, takes splitters from a gathered sample, exchanges whole records by one MPI_Alltoallv, merges what
// came and writes it. No checks, no spilling, shares as the sample gives them.
//
//   mpirun -n P plain_sample_sort IN-PREFIX OUT-PREFIX      reads IN-PREFIX<rank>, writes OUT-PREFIX<rank>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kRecordBytes = 100;
constexpr std::size_t kKeyBytes = 10;
constexpr std::size_t kSamplesARank = 1000;

struct Record {
  std::array<char, kRecordBytes> bytes;
  bool operator<(const Record& other) const { return std::memcmp(bytes.data(), other.bytes.data(), kKeyBytes) < 0; }
};

std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<Record> records(static_cast<std::size_t>(file.tellg()) / kRecordBytes);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(records.data()), static_cast<std::streamsize>(records.size() * kRecordBytes));
  return records;
}

/// Sorts by (key, place) pairs, then moves each record once.
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

std::vector<Record> choose_splitters(const std::vector<Record>& records, int ranks, MPI_Datatype type) {
  std::vector<Record> mine(kSamplesARank);
  for (std::size_t i = 0; i < kSamplesARank && !records.empty(); ++i)
    mine[i] = records[records.size() * i / kSamplesARank];
  std::vector<Record> all(kSamplesARank * static_cast<std::size_t>(ranks));
  MPI_Allgather(mine.data(), kSamplesARank, type, all.data(), kSamplesARank, type, MPI_COMM_WORLD);
  std::sort(all.begin(), all.end());
  std::vector<Record> splitters;
  for (int rank = 1; rank < ranks; ++rank) splitters.push_back(all[kSamplesARank * static_cast<std::size_t>(rank)]);
  return splitters;
}

std::vector<Record> exchange(const std::vector<Record>& records, const std::vector<Record>& splitters, int ranks,
                             MPI_Datatype type, std::vector<int>& starts) {
  std::vector<int> send(static_cast<std::size_t>(ranks));
  std::vector<int> send_at(send.size());
  std::vector<int> receive(send.size());
  starts.resize(send.size());
  auto from = records.begin();
  for (std::size_t rank = 0; rank < send.size(); ++rank) {
    const auto to = rank < splitters.size() ? std::lower_bound(from, records.end(), splitters[rank]) : records.end();
    send_at[rank] = static_cast<int>(from - records.begin());
    send[rank] = static_cast<int>(to - from);
    from = to;
  }
  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t rank = 0; rank < send.size(); ++rank) {
    starts[rank] = total;
    total += receive[rank];
  }
  std::vector<Record> came(static_cast<std::size_t>(total));
  MPI_Alltoallv(records.data(), send.data(), send_at.data(), type, came.data(), receive.data(), starts.data(), type,
                MPI_COMM_WORLD);
  return came;
}

void merge_parts(std::vector<Record>& records, std::vector<int> starts) {
  starts.push_back(static_cast<int>(records.size()));
  while (starts.size() > 2) {
    std::vector<int> fewer;
    for (std::size_t i = 0; i + 1 < starts.size(); i += 2) {
      fewer.push_back(starts[i]);
      if (i + 2 < starts.size())
        std::inplace_merge(records.begin() + starts[i], records.begin() + starts[i + 1],
                           records.begin() + starts[i + 2]);
    }
    fewer.push_back(starts.back());
    starts = std::move(fewer);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) {
    std::fprintf(stderr, "usage: plain_sample_sort IN-PREFIX OUT-PREFIX\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kRecordBytes, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<Record> records = sorted(read_records(argv[1] + std::to_string(rank)));
  std::vector<int> starts;
  records = exchange(records, choose_splitters(records, ranks, type), ranks, type, starts);
  merge_parts(records, starts);
  std::ofstream file(argv[2] + std::to_string(rank), std::ios::binary);
  file.write(reinterpret_cast<const char*>(records.data()),
             static_cast<std::streamsize>(records.size() * kRecordBytes));
  file.close();
  MPI_Type_free(&type);
  MPI_Finalize();
  return file ? 0 : 2;
}
