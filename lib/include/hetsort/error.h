// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the calls of <hetsort/sort.h> throw.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace hetsort {

enum class ErrorKind : std::uint8_t {
  kOther,
  kRequest,    ///< the request is impossible: options, layouts or ranks do not fit together
  kFile,       ///< an operation on a file failed
  kMemory,     ///< memory, or what the request allows of it, does not suffice
  kProof,      ///< the result is not the sorted input: a fault of memory, disk or program
  kCancelled,  ///< the caller asked for the end
};

/// A call failed. All ranks throw it with the same contents. what() is one message with all of them.
class Error : public std::runtime_error {
 public:
  struct Parts {
    ErrorKind kind = ErrorKind::kOther;
    int rank = -1;            ///< the rank that failed first; -1 = all of them, or no particular one
    std::string operation{};  ///< operation on a file, such as "write"; empty = none
    std::string path{};       ///< path of that file
    std::string reason{};
  };

  Error(const std::string& message, Parts parts);
  Error(const Error&);
  Error& operator=(const Error&);
  ~Error() override;

  ErrorKind kind() const noexcept { return parts_.kind; }
  int rank() const noexcept { return parts_.rank; }
  const std::string& operation() const noexcept { return parts_.operation; }
  const std::string& path() const noexcept { return parts_.path; }
  const std::string& reason() const noexcept { return parts_.reason; }

 private:
  Parts parts_;
};

}  // namespace hetsort
