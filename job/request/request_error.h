// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The error of a request that cannot be understood, contradicts itself, or cannot be fulfilled.
#pragma once

#include "sort/failure/request_error.h"

namespace hetsort::job {

using sort::RequestError;

}  // namespace hetsort::job
