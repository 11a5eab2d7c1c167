// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that describe the records of a file: their size, keys and header, and whether other files are refused.
#pragma once

#include <string>

#include "io/format/content.h"
#include "job/options/option.h"
#include "job/request/request.h"

namespace hetsort::job {

/// Adds the options of the size of a record and of its keys.
void add_layout_options(Options& options, RecordRequest& request);
/// Adds all options of records.
void add_record_options(Options& options, RecordRequest& request);
/// Adds the option that takes files for records or lines whatever they begin with.
void add_content_option(Options& options, RecordRequest& request);
/// Reads OFFSET:LENGTH or OFFSET:TYPE, and ":desc" behind it. Throws: RequestError.
sort::KeyField parse_key(const std::string& key, const std::string& what);
/// The layout of the request. Without keys the first 10 bytes are the key, or the whole of a shorter record. Throws:
/// RequestError.
sort::RecordLayout layout_of(const RecordRequest& request);
/// Which files the request refuses. `layout`: the requested one.
io::ContentRules content_of(const RecordRequest& request, const sort::RecordLayout& layout);

}  // namespace hetsort::job
