// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/resources.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/shared/options.h"
#include "io/file_system.h"
#include "partition/error.h"
#include "partition/text/quantity.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

/// Share of the memory found that is used when -S is not given.
constexpr double kDefaultMemoryShare = 0.75;

/// Bytes of "64K", "4G", "4GiB" (powers of 1024), "4GB" (of 1000), "512" (KiB, as in GNU sort), "1000b" (bytes) or
/// "50%" of `whole_bytes`. Throws: UsageError naming the option -S.
std::uint64_t parse_memory(const std::string& text, std::uint64_t whole_bytes) {
  if (text.ends_with('%')) {
    const std::uint64_t percent = parse_count(std::string_view(text).substr(0, text.size() - 1), "-S");
    if (percent == 0 || percent > 100) throw UsageError(fmt::format("-S '{}' is not within 1% to 100%", text));
    return whole_bytes / 100 * percent;
  }
  // GNU sort's "b": bytes.
  if (text.ends_with('b') && text.find_first_not_of("0123456789") == text.size() - 1)
    return std::max<std::uint64_t>(1, parse_count(std::string_view(text).substr(0, text.size() - 1), "-S"));
  try {
    const std::int64_t bytes = partition::parse_bytes(text, "-S", 1024);
    if (bytes == 0) throw UsageError("-S wants more than no memory");
    return static_cast<std::uint64_t>(bytes);
  } catch (const partition::PlanError& error) {
    throw UsageError(error.what());
  }
}

std::size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
}

/// $TMPDIR, else the output's folder, else /var/tmp. A folder in memory is passed over: runs spill to spare memory.
std::vector<std::string> default_temp_directories(const std::string& output) {
  const char* const from_environment = std::getenv("TMPDIR");
  if (from_environment != nullptr && *from_environment != '\0') return {from_environment};
  if (output != "-") {
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::weakly_canonical(std::filesystem::absolute(output), ignored);
    const std::string folder = target.parent_path().string();
    if (std::filesystem::is_directory(folder, ignored) && io::storage_of(folder) == io::Storage::kDisk &&
        (!std::filesystem::exists(output, ignored) || std::filesystem::is_regular_file(output, ignored)))
      return {folder};
  }
  return {"/var/tmp"};
}

std::uint64_t requested_memory(const po::variables_map& values) {
  const sort::MemoryLimits limits = sort::read_memory_limits();
  if (values.count("memory") != 0) return parse_memory(values["memory"].as<std::string>(), limits.physical());
  return static_cast<std::uint64_t>(static_cast<double>(limits.usable()) * kDefaultMemoryShare);
}

}  // namespace

void add_resource_options(po::options_description& options, const std::string& temp_use) {
  auto add = options.add_options();
  const auto text = [] { return po::value<std::string>(); };
  add("memory,S", text()->value_name("SIZE"),
      "memory to use: 64K, 4G, 4GiB, 4GB, 50%; no suffix = KiB (75% of what the system would give)");
  add("temp,T", po::value<std::vector<std::string>>()->value_name("DIR"),
      (temp_use + " ($TMPDIR, else OUTPUT's folder, else /var/tmp)").c_str());
  add("threads,j", text()->value_name("N"), "threads (as many as processors)");
}

std::optional<std::size_t> given_threads(const po::variables_map& values) {
  if (values.count("threads") == 0) return std::nullopt;
  const std::uint64_t threads = parse_count(values["threads"].as<std::string>(), "-j");
  if (threads == 0 || threads > kMostThreads) throw UsageError(fmt::format("-j wants 1 to {} threads", kMostThreads));
  return threads;
}

ResourceRequest requested_resources(const po::variables_map& values, const std::string& output) {
  ResourceRequest request;
  request.memory_given = values.count("memory") != 0;
  request.threads_given = values.count("threads") != 0;
  request.temp_given = values.count("temp") != 0;
  request.memory_bytes = requested_memory(values);
  request.threads = given_threads(values).value_or(processors());
  request.temp_directories =
      request.temp_given ? values["temp"].as<std::vector<std::string>>() : default_temp_directories(output);
  return request;
}

void settle_for_job(ResourceRequest& request, const comm::Communicator& ranks) {
  const auto neighbours = static_cast<std::size_t>(ranks.ranks_on_host());
  if (!request.memory_given) request.memory_bytes /= neighbours;
  // A launcher may have bound ranks to processors; several may be bound to the same.
  const std::size_t fair = std::max<std::size_t>(1, std::thread::hardware_concurrency() / neighbours);
  if (!request.threads_given) request.threads = std::min(request.threads, fair);
}

}  // namespace hetsort::cli
