// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The processes that sort together.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace hetsort {

/// The ranks of a call: by default this process alone. <hetsort/mpi.h> makes the ranks of an MPI communicator.
class Ranks {
 public:
  Ranks() = default;
  /// `handle` points to a communicator of `bytes` bytes; `mpi` names the MPI that the caller was compiled for
  /// (HETSORT_MPI_NAME). The communicator must live as long as calls use this object. Throws: std::length_error.
  Ranks(const void* handle, std::size_t bytes, std::string mpi) : bytes_(bytes), mpi_(std::move(mpi)) {
    if (bytes > sizeof handle_) throw std::length_error("hetsort::Ranks: no MPI has a communicator of that size");
    std::memcpy(&handle_, handle, bytes);
  }

  bool alone() const { return bytes_ == 0; }
  const void* handle() const { return &handle_; }
  std::size_t handle_bytes() const { return bytes_; }
  const std::string& mpi() const { return mpi_; }

 private:
  void* handle_ = nullptr;
  std::size_t bytes_ = 0;
  std::string mpi_;
};

}  // namespace hetsort
