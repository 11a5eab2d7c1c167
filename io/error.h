// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a file operation: operation, path, reason, and how far it got.
#pragma once

#include <stdexcept>
#include <string>

namespace hetsort::io {

/// A file operation failed. what() reads "OPERATION PATH: REASON" with " (DETAIL)" behind it where there is one,
/// for example "write /scratch/out: No space left on device (12.4 of 20.0 GB written)".
class Error : public std::runtime_error {
 public:
  /// The reason is the system's text for `error_number`.
  Error(const std::string& operation, const std::string& path, int error_number, const std::string& detail = "");
  /// An error without an errno: `reason` is any text, error_number() is 0.
  Error(const std::string& operation, const std::string& path, const std::string& reason);
  /// A copy of `error` with "; NOTE" appended to its message.
  Error(const Error& error, const std::string& note);

  int error_number() const { return error_number_; }
  const std::string& operation() const { return operation_; }
  const std::string& path() const { return path_; }

 private:
  std::string operation_;
  std::string path_;
  int error_number_ = 0;
};

}  // namespace hetsort::io
