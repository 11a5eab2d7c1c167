// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that describe the records of a file: their size, keys and header.
#pragma once

#include <string>

#include "job/options/option.h"
#include "job/request.h"

namespace hetsort::job {

void add_record_options(Options& options, RecordRequest& request);
/// OFFSET:LENGTH or OFFSET:TYPE, and ":desc" behind it. Throws: RequestError.
sort::KeyField parse_key(const std::string& key, const std::string& what);
/// Without keys the first 10 bytes, or the whole of a shorter record. Throws: RequestError.
sort::RecordLayout layout_of(const RecordRequest& request);

}  // namespace hetsort::job
