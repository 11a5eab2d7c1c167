// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that describe the records of a file: --record-size, --key, --header and --force-format.
#pragma once

#include <boost/program_options.hpp>

#include "io/format/content.h"
#include "sort/model/record_order.h"

namespace hetsort::cli {

void add_record_options(boost::program_options::options_description& options);
/// The layout that the options describe. Without --key the first 10 bytes are the key, or the whole of a shorter
/// record. Throws: UsageError, sort::RequestError.
sort::RecordLayout requested_layout(const boost::program_options::variables_map& values);
/// Which files these options and --force-format refuse. `layout`: the requested one.
io::ContentRules requested_content(const boost::program_options::variables_map& values,
                                   const sort::RecordLayout& layout);
/// Bytes at the start of each file that are not records.
std::uint64_t requested_header_bytes(const boost::program_options::variables_map& values);

}  // namespace hetsort::cli
