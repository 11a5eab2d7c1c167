// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a traced rank did, call by call, without any type of MPI.
#pragma once

#include <cstdint>

namespace hetsort::research::trace {

enum class CallKind : std::uint8_t {
  kSend,        ///< a message, when it was sent
  kReceive,     ///< a message, when it had arrived
  kCollective,  ///< a call of all ranks, which nobody leaves before it has what it needs of the others
  kAllToAll,    ///< a collective call with data from each rank to each other
  kRead,        ///< bytes from a file
  kWrite,       ///< bytes to a file
  kMark,        ///< the end of an iteration, as the user marked it
  kEnd,         ///< the end of the program
};

/// A call of one rank. It travels between ranks as its bytes.
struct Call {
  CallKind kind = CallKind::kEnd;
  bool by_other_thread = false;  ///< whether another thread than the one that calls MPI read or wrote
  std::int32_t partner = 0;      ///< rank of a message, number of ranks in a collective call, number of a file
  std::int64_t bytes = 0;
  double computing = 0;  ///< processor seconds of the thread since its last call
  double seconds = 0;    ///< elapsed seconds of reading or writing
};

}  // namespace hetsort::research::trace
