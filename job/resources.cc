// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/resources.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "io/field.h"
#include "io/file.h"
#include "io/file_system.h"
#include "job/options/parse.h"
#include "partition/error.h"
#include "partition/text/quantity.h"
#include "sort/input/rank_path.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::job {

namespace {

/// The fraction of the available memory that is used unless the caller says how much.
constexpr double kDefaultMemoryShare = 0.75;

/// Bytes of "64K", "4G", "4GiB" (powers of 1024), "4GB" (of 1000), "512" (KiB, as in GNU sort), "1000b" (bytes) or
/// "50%" of the machine's. Throws: RequestError.
std::uint64_t parse_memory(const std::string& text, const std::string& what) {
  if (text.ends_with('%')) {
    const std::uint64_t percent = job::parse_count(std::string_view(text).substr(0, text.size() - 1), what);
    if (percent == 0 || percent > 100) throw RequestError(fmt::format("{} '{}' is not within 1% to 100%", what, text));
    return sort::read_memory_limits().physical() / 100 * percent;
  }
  // "b" as in GNU sort: bytes.
  if (text.ends_with('b') && text.find_first_not_of("0123456789") == text.size() - 1)
    return std::max<std::uint64_t>(1, job::parse_count(std::string_view(text).substr(0, text.size() - 1), what));
  try {
    const std::int64_t bytes = partition::parse_bytes(text, what, 1024);
    if (bytes == 0) throw RequestError(what + " wants more than no memory");
    return static_cast<std::uint64_t>(bytes);
  } catch (const partition::PlanError& error) {
    throw RequestError(error.what());
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

/// Refuses several folders in one text, as some programs take them. Throws: RequestError.
void check_for_list(const std::string& folder) {
  if (folder.find(',') == std::string::npos || io::kind_at(folder)) return;
  const std::string word = io::field("temp");
  std::string options;
  for (std::size_t at = 0; at <= folder.size();) {
    const std::size_t end = std::min(folder.find(',', at), folder.size());
    options += fmt::format(" {} {}", word, folder.substr(at, end - at));
    at = end + 1;
  }
  throw RequestError(fmt::format("{} {}: there is no such folder; {} takes one folder and may be repeated:{}", word,
                                 folder, word, options));
}

std::uint64_t default_memory() {
  return static_cast<std::uint64_t>(static_cast<double>(sort::read_memory_limits().usable()) * kDefaultMemoryShare);
}

/// Lowers a given memory that this process cannot have to the default, and says so. A limit that is reached while
/// records are read would end the sort, even a small one: memory for a stream is reserved at once.
void lower_memory(Resources& resources, std::size_t neighbours) {
  const sort::MemoryLimits limits = sort::read_memory_limits();
  if (resources.memory_bytes <= limits.reservable()) return;
  const std::uint64_t given = std::exchange(resources.memory_bytes, default_memory() / neighbours);
  resources.note = fmt::format(
      "{} {} is more than this process can have ({}): it uses {}", io::field("memory"), io::human_size(given),
      limits.reservable() < limits.physical() ? "ulimit -v"
                                              : fmt::format("the memory is {}", io::human_size(limits.physical())),
      io::human_size(resources.memory_bytes));
}

}  // namespace

void add_threads_option(Options& options, std::optional<std::size_t>& threads) {
  options.add({.name = "threads",
               .letter = 'j',
               .synonym = "parallel",
               .value = "N",
               .help = "threads (as many as processors)",
               .of_one_rank = true,
               .fill = take(threads, count_from(1, kMaxThreads))});
}

void add_memory_option(Options& options, std::optional<std::uint64_t>& memory_bytes) {
  options.add({.name = "memory",
               .letter = 'S',
               .synonym = "buffer-size",
               .value = "SIZE",
               .help = "memory to use: 64K, 4G, 4GiB, 4GB, 50%; no suffix = KiB (75% of what the system would give)",
               .of_one_rank = true,
               .fill = take(memory_bytes, parse_memory)});
}

void add_resource_options(Options& options, ResourceRequest& request, const std::string& temp_use) {
  add_memory_option(options, request.memory_bytes);
  options.add({.name = "temp",
               .letter = 'T',
               .synonym = "temporary-directory",
               .value = "DIR",
               .help = temp_use + " ($TMPDIR, else OUTPUTs' folders, else /var/tmp)",
               .repeatable = true,
               .of_one_rank = true,
               .fill = add_text(request.temp_directories)});
  add_threads_option(options, request.threads);
}

Resources resources_of(const ResourceRequest& request, const std::vector<std::string>& outputs,
                       const comm::Communicator& ranks) {
  Resources resources{.memory_given = request.memory_bytes.has_value(),
                      .temp_directories = sort::rank_paths(request.temp_directories, ranks),
                      .temp_given = !request.temp_directories.empty()};
  for (const std::string& folder : resources.temp_directories) check_for_list(folder);
  if (!resources.temp_given) resources.temp_directories = default_temp_directories(sort::rank_paths(outputs, ranks));
  const auto neighbours = static_cast<std::size_t>(ranks.ranks_on_host());
  resources.memory_bytes = request.memory_bytes ? *request.memory_bytes : default_memory() / neighbours;
  if (request.memory_bytes) lower_memory(resources, neighbours);
  // A launcher may have bound several ranks to the same processors. Each rank takes only its fair number.
  const std::size_t fair = std::max<std::size_t>(1, std::thread::hardware_concurrency() / neighbours);
  if (request.threads && (*request.threads < 1 || *request.threads > kMaxThreads))
    throw RequestError(fmt::format("{} wants 1 to {}, not {}", io::field("threads"), kMaxThreads, *request.threads));
  resources.threads = request.threads ? *request.threads : std::min(processors(), fair);
  return resources;
}

}  // namespace hetsort::job
