/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * mpirun -n P heat ROWS ITERATIONS [SHARES]: heat in a square plate, as such programs are written. Each rank has some
 * rows of it. An iteration exchanges border rows, computes the next temperatures, agrees on the largest change, and
 * writes the rows to a file of the rank, from which the program could go on. SHARES: rows of each rank, as in 300,100.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Rows of this rank, of which there are `rows` in all. */
static int own_rows(int rows, char* shares) {
  int mine = rows / ranks + (rank < rows % ranks ? 1 : 0);
  if (shares != NULL) {
    char* word = strtok(shares, ",");
    for (int i = 0; i < rank && word != NULL; ++i) word = strtok(NULL, ",");
    mine = word == NULL ? 0 : atoi(word);
  }
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != rows || mine < 1) {
    if (rank == 0) fprintf(stderr, "heat: the shares do not sum up to %d rows, or a rank has none\n", rows);
    MPI_Finalize();
    exit(2);
  }
  return mine;
}

static double sweep(const double* now, double* next, int mine, int columns) {
  double change = 0;
  for (int i = 1; i <= mine; ++i)
    for (int j = 1; j + 1 < columns; ++j) {
      const long at = (long)i * columns + j;
      next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - columns] + now[at + columns]);
      const double moved = next[at] > now[at] ? next[at] - now[at] : now[at] - next[at];
      if (moved > change) change = moved;
    }
  return change;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rows = argc > 1 ? atoi(argv[1]) : 1024, iterations = argc > 2 ? atoi(argv[2]) : 20;
  const int mine = own_rows(rows, argc > 3 ? argv[3] : NULL);
  const int lower = rank > 0 ? rank - 1 : MPI_PROC_NULL, upper = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const size_t values = (size_t)(mine + 2) * (size_t)rows;
  double* now = (double*)calloc(values, sizeof(double));
  double* next = (double*)calloc(values, sizeof(double));
  for (size_t i = 0; i < values; i += (size_t)rows) now[i] = next[i] = 100; /* the left side is hot */
  FILE* file = tmpfile();
  if (now == NULL || next == NULL || file == NULL) MPI_Abort(MPI_COMM_WORLD, 2);

  double change = 0;
  const double begin = MPI_Wtime();
  for (int i = 0; i < iterations; ++i) {
    const size_t last = (size_t)mine * (size_t)rows;
    MPI_Sendrecv(now + rows, rows, MPI_DOUBLE, lower, 0, now + last + rows, rows, MPI_DOUBLE, upper, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + last, rows, MPI_DOUBLE, upper, 1, now, rows, MPI_DOUBLE, lower, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const double own_change = sweep(now, next, mine, rows);
    MPI_Allreduce(&own_change, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double* const swapped = now;
    now = next;
    next = swapped;
    rewind(file);
    if (fwrite(now + rows, sizeof(double), last, file) != last) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (rank == 0) printf("%.4f seconds, last change %.3g\n", MPI_Wtime() - begin, change);
  free(now);
  free(next);
  fclose(file);
  MPI_Finalize();
  return 0;
}
