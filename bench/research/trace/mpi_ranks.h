// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of a traced program tell each other and measure at its end. These messages are not traced.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "bench/research/trace/call.h"

namespace hetsort::research::trace {

using Numbers = std::vector<double>;

inline constexpr int kLongBytes = 1 << 20;  ///< the start of such a message hardly counts

/// The ranks of the program, with a communicator of their own.
class Ranks {
 public:
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm all() const { return all_; }
  /// A number of each rank, on rank 0. Collective.
  Numbers gather(double mine) const;

 private:
  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// What a rank says about itself.
struct Host {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  double processors = 0;  ///< quota of its control group; 0 = none
};

/// Median of half the seconds of a message of this size from rank 0 to each rank and back, on rank 0. Collective.
Numbers half_round_trips(const Ranks& ranks, int bytes);

struct MessageSeconds {
  double send = 0;
  double receive = 0;
};

/// Processor seconds to send a short message to the next rank, and to receive one that has arrived already. Collective.
MessageSeconds message_seconds(const Ranks& ranks);

/// The calls of all ranks, on rank 0. Collective.
std::vector<std::vector<Call>> gather_calls(const Ranks& ranks, std::vector<Call> mine);

/// What all ranks say about themselves, on rank 0. Collective.
std::vector<Host> gather_hosts(const Ranks& ranks);

}  // namespace hetsort::research::trace
