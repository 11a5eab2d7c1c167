// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A transport on which one control message goes wrong, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "comm/transport/transport.h"

namespace hetsort::machinery {

struct MessageFault {
  enum class Kind : std::uint8_t {
    kFlip,  ///< one bit of it is flipped
    kLose,  ///< it never arrives
  };
  Kind kind = Kind::kFlip;
  int rank = 0;              ///< the receiver
  std::uint64_t number = 0;  ///< number of the control message among those that this rank receives, from 1; 0 = none
  std::uint64_t seed = 0;    ///< chooses the bit
};

/// Reads "flip:RANK:NUMBER:SEED" or "lose:RANK:NUMBER:SEED". Throws: std::invalid_argument.
MessageFault parse_message_fault(std::string_view text);

/// `transport` with this fault. Control messages are those with tags below kFirstUserTag.
std::unique_ptr<comm::Transport> with_fault(std::unique_ptr<comm::Transport> transport, const MessageFault& fault);

}  // namespace hetsort::machinery
