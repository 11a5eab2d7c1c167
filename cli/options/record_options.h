// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that describe a record: --record-size and --key.
#pragma once

#include <boost/program_options.hpp>

#include "sort/record_layout.h"

namespace hetsort::cli {

void add_record_options(boost::program_options::options_description& options);
/// Without --key the first 10 bytes, or the whole of a shorter record. Throws: sort::RequestError.
sort::RecordLayout requested_layout(const boost::program_options::variables_map& values);

}  // namespace hetsort::cli
