// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes streams of one compressed format, step by step.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>

#include "io/format/compression.h"

namespace hetsort::io {

/// The bytes are not what the format allows.
class DecodeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A compressed stream consists of frames (gzip calls them members) one behind the other. Thread safety: one thread.
class Decoder {
 public:
  struct Step {
    std::size_t taken = 0;     ///< bytes of the input that are no longer needed
    std::size_t written = 0;   ///< bytes of the output
    bool frame_ended = false;  ///< all output of the frame is written
  };

  virtual ~Decoder() = default;
  /// Decodes what it can of `from` into `into`. A step that neither takes nor writes anything needs more input.
  /// Throws: DecodeError.
  virtual Step decode(std::span<const std::byte> from, std::span<std::byte> into) = 0;
  /// Whether bytes in front of the next frame are skipped.
  virtual bool skips(std::byte) const { return false; }
};

/// `any_window`: windows of zstd may have more than 128 MiB. Requires: not kNone. Throws: std::bad_alloc.
std::unique_ptr<Decoder> make_decoder(Compression format, bool any_window = false);

}  // namespace hetsort::io
