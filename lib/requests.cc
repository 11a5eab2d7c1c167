// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "cli/commands/sort_request.h"
#include "cli/options/record_options.h"
#include "cli/options/typed_options.h"
#include "cli/plan/plan_output.h"
#include "cli/plan/plan_request.h"
#include "cli/shared/progress.h"
#include "cli/shared/run_report.h"
#include "cli/shared/sort_run.h"
#include "io/calls/buffer.h"
#include "io/error.h"
#include "io/publish.h"
#include "lib/call.h"
#include "sort/machine/parallel.h"
#include "sort/sort_memory.h"

namespace hetsort::lib {

namespace {

namespace po = boost::program_options;

/// A rank's request, or the reason why it is impossible.
template <class Request>
struct Asked {
  std::optional<Request> request;
  cli::SharedSettings shared;
  std::string mistake;
};

/// Refuses words with zero bytes, at which a path would end. Throws: UsageError.
void refuse_zero_bytes(const Words& words) {
  for (const std::string& word : words)
    if (const std::size_t at = word.find('\0'); at != std::string::npos)
      throw cli::UsageError(fmt::format("'{}' is followed by a zero byte", word.substr(0, at)));
}

using Names = std::span<const std::string_view>;

/// Refuses options that were set although the call does not look at them. Throws: UsageError.
void refuse_others(const po::variables_map& values, Names used) {
  for (const auto& [name, value] : values)
    if (!value.defaulted() && std::ranges::find(used, name) == used.end())
      throw cli::UsageError(fmt::format("a sort in memory has no option '{}'", name));
}

/// Reads the words by `read(values)`. Returns a mistake instead of throwing it: other ranks may already wait for this
/// one.
template <class Read>
auto ask(const Words& words, const Read& read) {
  Asked<decltype(read(po::variables_map{}))> asked;
  po::options_description options;
  cli::add_one_sort_options(options);
  try {
    refuse_zero_bytes(words);
    const cli::CommandLine line = cli::parse_options("sort", words, options);
    asked.shared = line.shared;
    asked.request = read(line.values);
  } catch (const std::exception& error) {
    asked.mistake = error.what();
  }
  return asked;
}

template <class Request>
Call call_of(const Asked<Request>& asked, const Caller& caller) {
  return {caller.ranks, caller.control, asked.request ? asked.request->job.communication : comm::CommunicatorOptions{},
          asked.shared, caller.mistake.empty() ? asked.mistake : caller.mistake};
}

cli::SortRequest file_request_of(const po::variables_map& values) {
  cli::SortRequest request = cli::one_sort_request_of(values);
  if (request.options.input.paths.empty()) throw cli::UsageError("no input is named");
  request.quiet = true;
  request.progress = cli::ProgressStyle::kNone;
  return request;
}

struct MemoryRequest {
  sort::RecordLayout layout;
  cli::ResourceRequest resources;
  cli::JobRequest job;
};

MemoryRequest memory_request_of(const po::variables_map& values) {
  constexpr std::array<std::string_view, 8> kUsed{"record-size", "key",     "reverse",       "stable",
                                                  "memory",      "threads", "stall-timeout", "mpi"};
  refuse_others(values, kUsed);
  return {cli::requested_layout(values), cli::requested_resources(values), cli::requested_job(values)};
}

/// Copies records with several threads.
void copy_records(std::span<const std::byte> from, std::span<std::byte> to, std::size_t threads) {
  sort::run_workers(threads, [&](std::size_t worker, const sort::StopFlag&) {
    const std::size_t first = from.size() * worker / threads;
    const std::size_t end = from.size() * (worker + 1) / threads;
    std::copy(from.begin() + static_cast<std::ptrdiff_t>(first), from.begin() + static_cast<std::ptrdiff_t>(end),
              to.begin() + static_cast<std::ptrdiff_t>(first));
  });
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return !a.empty() && !b.empty() && std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

}  // namespace

void add_layout(Words& words, const Layout& layout) {
  words.insert(words.end(), {"--record-size", std::to_string(layout.record_bytes)});
  for (const std::string& key : layout.keys) words.insert(words.end(), {"--key", key});
}

void add_resources(Words& words, const Resources& resources) {
  if (!resources.memory.empty()) words.insert(words.end(), {"--memory", resources.memory});
  if (resources.threads != 0) words.insert(words.end(), {"--threads", std::to_string(resources.threads)});
}

SortResult sort_files(const Words& words, const Caller& caller) {
  Asked<cli::SortRequest> asked = ask(words, file_request_of);
  Call call = call_of(asked, caller);
  SortResult result;
  run_call(call, [&](comm::Communicator& job) {
    cli::SortRequest& request = *asked.request;
    request.options.output.owner_only = caller.owner_only;
    cli::files_of(request).check(job);
    cli::resolve_for_job(request, job);
    std::vector<std::string> command{"hetsort", "sort"};
    command.insert(command.end(), words.begin(), words.end());
    cli::SortRun run(request, job, command, job.job_start());
    {
      cli::count_all_ranks(run.monitor(), job);
      const Watching watching(run.monitor(), call);
      run.run();
    }
    if (job.rank() == 0 && request.curves) {
      request.curves->learn(run.work());
      io::OutputFile learned(request.curves->path());
      cli::write_text(learned, request.curves->text());
    }
    const sort::RankResult& done = run.result();
    result = {done.all.records, done.all_bytes, done.bytes_spilled, run.monitor().phases().back().end,
              job.rank() == 0 ? run.report() : ""};
  });
  return result;
}

void sort_in_memory(const Words& words, const Caller& caller, std::span<const std::byte> records,
                    std::span<std::byte> sorted) {
  Asked<MemoryRequest> asked = ask(words, memory_request_of);
  Call call = call_of(asked, caller);
  // Until all ranks have succeeded the records stay as they are.
  io::Buffer staged;
  std::size_t threads = 1;
  run_call(call, [&](comm::Communicator& job) {
    MemoryRequest& request = *asked.request;
    cli::resolve_for_job(request.resources, {"-"}, job);
    if (overlap(records, sorted)) staged = io::Buffer(sorted.size());
    sort::Monitor monitor(false, job.job_start());
    sort::RankResult result;
    cli::count_all_ranks(monitor, job);
    const Watching watching(monitor, call);
    sort::sort_memory({.layout = request.layout,
                       .records = records,
                       .sorted = staged.size_bytes() > 0 ? staged.span() : sorted,
                       .memory_bytes = request.resources.memory_bytes,
                       .result_bytes = staged.size_bytes(),
                       .threads = request.resources.threads},
                      job, monitor, result);
    threads = result.threads;
  });
  if (staged.size_bytes() > 0) copy_records(staged.span(), sorted, threads);
}

void check_option(const std::string& name, bool has_value) {
  if (name.empty() || name.starts_with('-') || name.find('=') != std::string::npos)
    throw_request_error(fmt::format("no option has the name '{}'", name));
  if (has_value) return;
  po::options_description of_sort;
  cli::add_one_sort_options(of_sort);
  for (const po::options_description& options : {of_sort, cli::plan_options()})
    if (const auto* const option = options.find_nothrow(name, false); option != nullptr)
      if (option->semantic()->min_tokens() > 0) throw_request_error(fmt::format("option '{}' wants a value", name));
}

Planned plan(const Words& words) {
  try {
    const cli::CommandLine line = cli::parse_options("plan", words, cli::plan_options());
    for (const char* const other : {"jobs", "program", "compare", "format", "explain", "plot", "emit-hostfile", "help"})
      if (line.values.count(other) != 0 && !line.values[other].defaulted())
        throw cli::UsageError(fmt::format("a call makes one plan; '{}' is an option of the program only", other));
    const cli::PlanRequest request = cli::plan_request_of(line.values);
    const partition::Plan plan = partition::make_plan(request.problem, request.strategy);
    Planned planned{cli::plan_json(plan), {}};
    planned.shares.reserve(plan.nodes.size());
    for (const partition::NodePlan& node : plan.nodes)
      planned.shares.push_back(static_cast<std::uint64_t>(node.records));
    return planned;
  } catch (const io::Error& error) {
    throw Error(error.what(), {ErrorKind::kFile, -1, error.operation(), error.path(),
                               reason_in(error.what(), error.operation(), error.path())});
  } catch (const std::exception& error) {
    throw_request_error(error.what());
  }
}

}  // namespace hetsort::lib
