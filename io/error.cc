// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/error.h"

#include <system_error>

namespace hetsort::io {

Error::Error(const std::string& operation, const std::string& path, int error_number, const std::string& detail)
    : std::runtime_error(operation + " " + path + ": " + std::generic_category().message(error_number) +
                         (detail.empty() ? "" : " (" + detail + ")")),
      operation_(operation),
      path_(path),
      error_number_(error_number) {}

Error::Error(const std::string& operation, const std::string& path, const std::string& reason)
    : std::runtime_error(operation + " " + path + ": " + reason), operation_(operation), path_(path) {}

Error::Error(const Error& error, const std::string& note)
    : std::runtime_error(std::string(error.what()) + "; " + note),
      operation_(error.operation_),
      path_(error.path_),
      error_number_(error.error_number_) {}

}  // namespace hetsort::io
