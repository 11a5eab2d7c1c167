// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What several commands say of their nodes: speeds, a cluster file, the shape of the cost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "partition/cost.h"

namespace hetsort::job {

/// The whole file as text. Throws: io::Error; RequestError beyond 256 MiB.
std::string read_text_file(const std::string& path);
/// The text that rank 0 reads, on all ranks. Other hosts may lack the file or have an old copy. Collective.
/// Throws: comm::PeerFailed; on rank 0 what `read` throws.
std::string read_on_root(const std::function<std::string()>& read, comm::Communicator& ranks);
/// The speeds of a list such as "1,2.5,4". Throws: RequestError naming the place.
std::vector<double> parse_speeds(std::string_view list, const std::string& what);
/// The numbers of records of a list such as "1000000,5e5,0". Throws: RequestError naming the place.
std::vector<std::uint64_t> parse_shares(std::string_view list, const std::string& what);
/// The cost of a shape: "nlogn", "linear" or "power:E". Throws: RequestError.
partition::CostPtr parse_cost_shape(const std::string& text, const std::string& what);
/// The records of this size that a sort keeps in a memory of so many bytes, as its own memory plan says; the library of
/// strategies does not know that plan.
std::function<std::int64_t(std::int64_t memory_bytes)> records_in_memory(std::int64_t record_bytes);
/// A number of records up to 2^63 - 1: "1000000", "1e6", "1M" or "1.5M". K, M, G and T are powers of 1000.
/// Throws: RequestError naming `what`.
std::int64_t parse_records(const std::string& text, std::string_view what);
/// A number of records as parse_records() takes it, but up to 2^64 - 1.
std::uint64_t parse_many_records(const std::string& text, std::string_view what);

}  // namespace hetsort::job
