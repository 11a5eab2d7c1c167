/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program of some MPI. It prints "sorted" if the library was built for that MPI, and else why the library refused. In
 * both cases the records stay whole, and the program's MPI works afterwards.
 */
#include <hetsort.h>
#include <hetsort/mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm world = MPI_COMM_WORLD;
  uint64_t records[2] = {2, 1};
  uint64_t sum = 0;
  hetsort_options* options = hetsort_options_new(HETSORT_VERSION);
  hetsort_ranks* ranks;
  int rank, failed, wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  ranks = hetsort_ranks_new(&world, sizeof world, HETSORT_MPI_NAME);
  hetsort_options_set(options, "record-size", "8");
  hetsort_options_set(options, "key", "0:u64");
  failed = hetsort_sort_memory(options, ranks, records, sizeof records, records, sizeof records) != 0;
  if (rank == 0) printf("%s\n", failed ? hetsort_last_error()->message : "sorted");
  /* Both ranks have 2 and 1: sorted together, rank 0 has 1 and 1. */
  wrong = failed ? hetsort_last_error()->kind != HETSORT_REQUEST || records[0] != 2 || records[1] != 1
                 : records[0] != (uint64_t)rank + 1 || records[1] != (uint64_t)rank + 1;
  MPI_Allreduce(records, &sum, 1, MPI_UINT64_T, MPI_SUM, world);
  wrong |= sum != (failed ? 4 : 3);
  hetsort_ranks_free(ranks);
  hetsort_options_free(options);
  MPI_Finalize();
  return wrong;
}
