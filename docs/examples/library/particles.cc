// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// An MPI program whose particles are sorted where they are, so that each rank owns a range of cells. The ranks are not
// equally fast: rank r has the speed r + 1 and ends with so many more particles.
//
//   mpirun -n 4 particles 1000000
#include <hetsort/mpi.h>
#include <hetsort/sort.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

struct Particle {
  std::uint64_t cell;
  float x, y, z, mass;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::uint64_t total = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;

  // At first all ranks have equally many, in no order.
  const auto part = [&](std::uint64_t number, std::uint64_t of) { return total * number / of; };
  const auto me = static_cast<std::uint64_t>(rank);
  const auto all = static_cast<std::uint64_t>(ranks);
  std::mt19937_64 random(me);
  std::vector<Particle> particles(part(me + 1, all) - part(me, all));
  for (Particle& particle : particles) particle = {random() % 1000, 0, 0, 0, static_cast<float>(random() % 100)};

  // By cell, within a cell the heavy ones first. Rank r gets (r + 1) of 1 + 2 + ... + ranks parts.
  const std::uint64_t parts = all * (all + 1) / 2;
  const std::uint64_t share = part((me + 1) * (me + 2) / 2, parts) - part(me * (me + 1) / 2, parts);
  int failed = 0;
  try {
    hetsort::sort_in_memory(hetsort::ranks_of(MPI_COMM_WORLD), particles,
                            {hetsort::key<std::uint64_t>(offsetof(Particle, cell)),
                             hetsort::key<float>(offsetof(Particle, mass), hetsort::kDescending)},
                            share);
    for (int turn = 0; turn < ranks; ++turn) {
      if (turn == rank && !particles.empty())
        std::printf("rank %d: %zu particles, cells %llu to %llu\n", rank, particles.size(),
                    static_cast<unsigned long long>(particles.front().cell),
                    static_cast<unsigned long long>(particles.back().cell));
      std::fflush(stdout);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } catch (const hetsort::Error& error) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "%s\n", error.what());
    failed = 2;
  }
  MPI_Finalize();
  return failed;
}
