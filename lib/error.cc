// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "hetsort/error.h"

#include <utility>

namespace hetsort {

Error::Error(const std::string& message, Parts parts) : std::runtime_error(message), parts_(std::move(parts)) {}
Error::Error(const Error&) = default;
Error& Error::operator=(const Error&) = default;
Error::~Error() = default;

}  // namespace hetsort
