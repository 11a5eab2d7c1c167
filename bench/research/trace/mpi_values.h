// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers out of the values of MPI.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace hetsort::research::trace {

struct Message {
  int count;
  MPI_Datatype type;
  int partner;
  int tag;
  MPI_Comm comm;
};

inline std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

/// The number in MPI_COMM_WORLD of a rank of another communicator; that of the other group of an intercommunicator.
inline int world_rank(int rank, MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD) return rank;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  int joins_groups = 0;
  int found = rank;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_test_inter(comm, &joins_groups);
  joins_groups != 0 ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
  PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return found;
}

}  // namespace hetsort::research::trace
