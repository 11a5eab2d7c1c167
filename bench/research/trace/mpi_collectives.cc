// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI's start, its end, and its calls of all ranks, with the profiling interface (PMPI) behind them. The bytes of such
// a call are those of one message: what a rank contributes, or what the root sends to it; of an all-to-all, what a rank
// sends to all others.
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "bench/research/trace/finish.h"
#include "bench/research/trace/mpi_values.h"
#include "bench/research/trace/recorder.h"

namespace hetsort::research::trace {
namespace {

void begin_trace() {
  try {
    Recorder::instance().begin();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hetsort-trace: nothing is recorded: %s\n", error.what());
  }
}

int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

/// Calls `real`, and records it as a call of this kind with these bytes.
template <typename Real>
int call_of_all(const char* name, CallKind kind, MPI_Comm comm, std::int64_t bytes, Real real) {
  const InsideCall inside(name);
  const int code = real();
  if (inside.is_recorded() && code == MPI_SUCCESS) Recorder::instance().collective(kind, size_of(comm), bytes);
  return code;
}

template <typename Real>
int collective(const char* name, MPI_Comm comm, std::int64_t bytes, Real real) {
  return call_of_all(name, CallKind::kCollective, comm, bytes, real);
}

template <typename Real>
int all_to_all(const char* name, MPI_Comm comm, std::int64_t bytes, Real real) {
  return call_of_all(name, CallKind::kAllToAll, comm, bytes, real);
}

/// Bytes of what this rank sends to the others. `counts`: by receiver.
std::int64_t bytes_to_others(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  std::int64_t bytes = 0;
  for (int rank = 0; rank < size_of(comm); ++rank)
    if (rank != rank_in(comm)) bytes += bytes_of(counts[rank], type);
  return bytes;
}

/// Bytes of a rank's contribution, of which MPI_IN_PLACE says that it is among the results.
std::int64_t own_bytes(const void* from, std::int64_t bytes, std::int64_t in_place) {
  return from == MPI_IN_PLACE ? in_place : bytes;
}

}  // namespace
}  // namespace hetsort::research::trace

using namespace hetsort::research::trace;  // NOLINT(google-build-using-namespace): the calls below are in no namespace

extern "C" {
// NOLINTBEGIN(readability-function-size): the parameters are MPI's

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin_trace();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_trace();
  return code;
}

int MPI_Finalize() {
  finish_trace();
  return PMPI_Finalize();
}

int MPI_Pcontrol(const int level, ...) {
  const InsideCall inside("MPI_Pcontrol");
  return PMPI_Pcontrol(level);
}

int MPI_Barrier(MPI_Comm comm) {
  return collective("MPI_Barrier", comm, 0, [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return collective("MPI_Bcast", comm, bytes_of(count, type),
                    [&] { return PMPI_Bcast(data, count, type, root, comm); });
}

int MPI_Reduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return collective("MPI_Reduce", comm, bytes_of(count, type),
                    [&] { return PMPI_Reduce(from, into, count, type, op, root, comm); });
}

int MPI_Allreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return collective("MPI_Allreduce", comm, bytes_of(count, type),
                    [&] { return PMPI_Allreduce(from, into, count, type, op, comm); });
}

int MPI_Scan(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return collective("MPI_Scan", comm, bytes_of(count, type),
                    [&] { return PMPI_Scan(from, into, count, type, op, comm); });
}

int MPI_Exscan(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return collective("MPI_Exscan", comm, bytes_of(count, type),
                    [&] { return PMPI_Exscan(from, into, count, type, op, comm); });
}

int MPI_Reduce_scatter_block(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return collective("MPI_Reduce_scatter_block", comm, bytes_of(count, type),
                    [&] { return PMPI_Reduce_scatter_block(from, into, count, type, op, comm); });
}

int MPI_Reduce_scatter(const void* from, void* into, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return collective("MPI_Reduce_scatter", comm, bytes_of(counts[rank_in(comm)], type),
                    [&] { return PMPI_Reduce_scatter(from, into, counts, type, op, comm); });
}

int MPI_Gather(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type, int root,
               MPI_Comm comm) {
  return collective("MPI_Gather", comm, own_bytes(from, bytes_of(count, type), bytes_of(in_count, in_type)),
                    [&] { return PMPI_Gather(from, count, type, into, in_count, in_type, root, comm); });
}

int MPI_Allgather(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type,
                  MPI_Comm comm) {
  return collective("MPI_Allgather", comm, own_bytes(from, bytes_of(count, type), bytes_of(in_count, in_type)),
                    [&] { return PMPI_Allgather(from, count, type, into, in_count, in_type, comm); });
}

int MPI_Scatter(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type,
                int root, MPI_Comm comm) {
  return collective("MPI_Scatter", comm, own_bytes(into, bytes_of(in_count, in_type), bytes_of(count, type)),
                    [&] { return PMPI_Scatter(from, count, type, into, in_count, in_type, root, comm); });
}

int MPI_Gatherv(const void* from, int count, MPI_Datatype type, void* into, const int in_counts[], const int places[],
                MPI_Datatype in_type, int root, MPI_Comm comm) {
  return collective(
      "MPI_Gatherv", comm,
      own_bytes(from, bytes_of(count, type), from == MPI_IN_PLACE ? bytes_of(in_counts[rank_in(comm)], in_type) : 0),
      [&] { return PMPI_Gatherv(from, count, type, into, in_counts, places, in_type, root, comm); });
}

int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* into, const int in_counts[],
                   const int places[], MPI_Datatype in_type, MPI_Comm comm) {
  return collective(
      "MPI_Allgatherv", comm,
      own_bytes(from, bytes_of(count, type), from == MPI_IN_PLACE ? bytes_of(in_counts[rank_in(comm)], in_type) : 0),
      [&] { return PMPI_Allgatherv(from, count, type, into, in_counts, places, in_type, comm); });
}

int MPI_Scatterv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* into, int in_count,
                 MPI_Datatype in_type, int root, MPI_Comm comm) {
  return collective(
      "MPI_Scatterv", comm,
      own_bytes(into, bytes_of(in_count, in_type), into == MPI_IN_PLACE ? bytes_of(counts[root], type) : 0),
      [&] { return PMPI_Scatterv(from, counts, places, type, into, in_count, in_type, root, comm); });
}

int MPI_Alltoall(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type,
                 MPI_Comm comm) {
  return all_to_all("MPI_Alltoall", comm, (size_of(comm) - 1) * bytes_of(in_count, in_type),
                    [&] { return PMPI_Alltoall(from, count, type, into, in_count, in_type, comm); });
}

int MPI_Alltoallv(const void* from, const int counts[], const int places[], MPI_Datatype type, void* into,
                  const int in_counts[], const int in_places[], MPI_Datatype in_type, MPI_Comm comm) {
  return all_to_all(
      "MPI_Alltoallv", comm,
      from == MPI_IN_PLACE ? bytes_to_others(in_counts, in_type, comm) : bytes_to_others(counts, type, comm),
      [&] { return PMPI_Alltoallv(from, counts, places, type, into, in_counts, in_places, in_type, comm); });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return collective("MPI_Ibarrier", comm, 0, [&] { return PMPI_Ibarrier(comm, request); });
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  return collective("MPI_Ibcast", comm, bytes_of(count, type),
                    [&] { return PMPI_Ibcast(data, count, type, root, comm, request); });
}

int MPI_Ireduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  return collective("MPI_Ireduce", comm, bytes_of(count, type),
                    [&] { return PMPI_Ireduce(from, into, count, type, op, root, comm, request); });
}

int MPI_Iallreduce(const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return collective("MPI_Iallreduce", comm, bytes_of(count, type),
                    [&] { return PMPI_Iallreduce(from, into, count, type, op, comm, request); });
}

int MPI_Iallgather(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  return collective("MPI_Iallgather", comm, own_bytes(from, bytes_of(count, type), bytes_of(in_count, in_type)),
                    [&] { return PMPI_Iallgather(from, count, type, into, in_count, in_type, comm, request); });
}

int MPI_Ialltoall(const void* from, int count, MPI_Datatype type, void* into, int in_count, MPI_Datatype in_type,
                  MPI_Comm comm, MPI_Request* request) {
  return all_to_all("MPI_Ialltoall", comm, (size_of(comm) - 1) * bytes_of(in_count, in_type),
                    [&] { return PMPI_Ialltoall(from, count, type, into, in_count, in_type, comm, request); });
}

// NOLINTEND(readability-function-size)
}  // extern "C"
