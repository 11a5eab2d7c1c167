// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the costs in a cluster file were measured for the records of a request.
#pragma once

#include <cstdint>
#include <string>

#include "partition/cluster.h"
#include "sort/model/record_order.h"

namespace hetsort::job {

/// A remark for the user if the file says that its costs are those of other records than these; else empty. Throws:
/// RequestError for keys in the file that are none.
std::string note_on_records(const partition::Cluster& cluster, const sort::RecordLayout& layout);
/// A remark on records of which only the size is known.
std::string note_on_records(const partition::Cluster& cluster, std::uint64_t record_bytes);

}  // namespace hetsort::job
