// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/resources.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "cli/options/typed_options.h"
#include "io/file.h"
#include "io/file_system.h"
#include "partition/error.h"
#include "partition/text/quantity.h"
#include "sort/input/rank_path.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::cli {

namespace {

namespace po = boost::program_options;

/// The fraction of the available memory that is used when -S is not given.
constexpr double kDefaultMemoryShare = 0.75;

/// Bytes of "64K", "4G", "4GiB" (powers of 1024), "4GB" (of 1000), "512" (KiB, as in GNU sort), "1000b" (bytes) or
/// "50%" of the machine's. Throws: UsageError naming the option -S.
std::uint64_t parse_memory(const std::string& text) {
  if (text.ends_with('%')) {
    const std::uint64_t percent = parse_count(std::string_view(text).substr(0, text.size() - 1), "-S");
    if (percent == 0 || percent > 100) throw UsageError(fmt::format("-S '{}' is not within 1% to 100%", text));
    return sort::read_memory_limits().physical() / 100 * percent;
  }
  // "b" as in GNU sort: bytes.
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

/// $TMPDIR, else the folders of the outputs, else /var/tmp. A folder in memory is passed over: runs spill to spare
/// memory.
std::vector<std::string> default_temp_directories(const std::vector<std::string>& outputs) {
  const char* const from_environment = std::getenv("TMPDIR");
  if (from_environment != nullptr && *from_environment != '\0') return {from_environment};
  std::vector<std::string> folders;
  for (const std::string& output : outputs) {
    if (output == "-") continue;
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::weakly_canonical(std::filesystem::absolute(output), ignored);
    const std::string folder = target.parent_path().string();
    if (io::kind_at(folder) == io::FileKind::kDirectory && io::storage_of(folder) == io::Storage::kDisk &&
        io::kind_at(output).value_or(io::FileKind::kRegular) == io::FileKind::kRegular &&
        std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
  }
  return folders.empty() ? std::vector<std::string>{"/var/tmp"} : folders;
}

/// Refuses several folders in one -T, as some programs take them. Throws: UsageError.
void check_for_list(const std::string& folder) {
  if (folder.find(',') == std::string::npos || io::kind_at(folder)) return;
  std::string options;
  for (std::size_t at = 0; at <= folder.size();) {
    const std::size_t end = std::min(folder.find(',', at), folder.size());
    options += " -T " + folder.substr(at, end - at);
    at = end + 1;
  }
  throw UsageError(
      fmt::format("-T {}: there is no such folder; -T takes one folder and may be repeated:{}", folder, options));
}

std::uint64_t default_memory() {
  return static_cast<std::uint64_t>(static_cast<double>(sort::read_memory_limits().usable()) * kDefaultMemoryShare);
}

/// A limit that is reached while records are read would end the sort, even a small one: memory for a stream is reserved
/// at once.
void lower_memory(ResourceRequest& request, std::size_t neighbours) {
  const sort::MemoryLimits limits = sort::read_memory_limits();
  if (request.memory_bytes <= limits.reservable()) return;
  const std::uint64_t given = std::exchange(request.memory_bytes, default_memory() / neighbours);
  request.note = fmt::format("-S {} is more than this process can have ({}): it uses {}", io::human_size(given),
                             limits.reservable() < limits.physical()
                                 ? "ulimit -v"
                                 : fmt::format("the memory is {}", io::human_size(limits.physical())),
                             io::human_size(request.memory_bytes));
}

}  // namespace

void add_threads_option(po::options_description& options) {
  options.add_options()("threads,parallel,j", count("N", "-j", 1, kMaxThreads), "threads (as many as processors)");
}

std::optional<std::size_t> given_threads(const po::variables_map& values) {
  return optional_value<std::uint64_t>(values, "threads");
}

void add_resource_options(po::options_description& options, const std::string& temp_use) {
  auto add = options.add_options();
  add("memory,buffer-size,S", parsed<std::uint64_t>("SIZE", parse_memory),
      "memory to use: 64K, 4G, 4GiB, 4GB, 50%; no suffix = KiB (75% of what the system would give)");
  add("temp,temporary-directory,T", po::value<std::vector<std::string>>()->value_name("DIR"),
      (temp_use + " ($TMPDIR, else OUTPUTs' folders, else /var/tmp)").c_str());
  add_threads_option(options);
}

ResourceRequest requested_resources(const po::variables_map& values) {
  ResourceRequest request;
  const std::optional<std::uint64_t> memory = optional_value<std::uint64_t>(values, "memory");
  const std::optional<std::size_t> threads = given_threads(values);
  request.memory_given = memory.has_value();
  request.threads_given = threads.has_value();
  request.temp_given = values.count("temp") != 0;
  request.memory_bytes = memory ? *memory : default_memory();
  request.threads = threads.value_or(processors());
  if (request.temp_given) request.temp_directories = values["temp"].as<std::vector<std::string>>();
  return request;
}

void resolve_for_job(ResourceRequest& request, const std::vector<std::string>& outputs,
                     const comm::Communicator& ranks) {
  for (std::string& folder : request.temp_directories) {
    folder = sort::rank_path(folder, ranks);
    check_for_list(folder);
  }
  if (!request.temp_given) request.temp_directories = default_temp_directories(sort::rank_paths(outputs, ranks));
  const auto neighbours = static_cast<std::size_t>(ranks.ranks_on_host());
  if (request.memory_given)
    lower_memory(request, neighbours);
  else
    request.memory_bytes /= neighbours;
  // A launcher may have bound several ranks to the same processors. Each rank takes only its fair number.
  const std::size_t fair = std::max<std::size_t>(1, std::thread::hardware_concurrency() / neighbours);
  if (!request.threads_given) request.threads = std::min(request.threads, fair);
}

}  // namespace hetsort::cli
