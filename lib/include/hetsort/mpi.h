/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * For programs that use MPI: the ranks of a communicator. The library compares HETSORT_MPI_NAME with the MPI that it
 * was built for. In C: hetsort_ranks_new(&communicator, sizeof communicator, HETSORT_MPI_NAME).
 */
#pragma once

#include <mpi.h>

#ifdef OPEN_MPI
#define HETSORT_MPI_NAME "Open MPI"
#else
#define HETSORT_MPI_NAME "MPICH"
#endif

#ifdef __cplusplus
#include <hetsort/ranks.h>

namespace hetsort {

/** The ranks of `communicator`, which sorts duplicate: messages of the program and of the sort do not meet. */
inline Ranks ranks_of(MPI_Comm communicator) { return {&communicator, sizeof communicator, HETSORT_MPI_NAME}; }

}  // namespace hetsort
#endif
