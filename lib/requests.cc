// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/calls/buffer.h"
#include "io/error.h"
#include "io/file_system.h"
#include "io/publish.h"
#include "job/learn.h"
#include "job/logged_sort.h"
#include "job/options/record_options.h"
#include "job/plan/plan_json.h"
#include "job/plan/plan_request.h"
#include "job/request/request_error.h"
#include "job/resources.h"
#include "job/sort_options.h"
#include "lib/call.h"
#include "sort/failure/request_error.h"
#include "sort/machine/parallel.h"

namespace hetsort::lib {

namespace {

/// The message of what ask() throws. It is not thrown, because other ranks may already wait for this one.
std::string mistake_in(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// Refuses texts with zero bytes, at which a path would end. Throws: RequestError.
void refuse_zero_bytes(const std::string& text) {
  if (const std::size_t at = text.find('\0'); at != std::string::npos)
    throw job::RequestError(fmt::format("'{}' is followed by a zero byte", text.substr(0, at)));
}

/// The words of the call for the report.
std::vector<std::string> words_of(const job::Options& options, const std::vector<std::string>& inputs) {
  std::vector<std::string> words{"libhetsort", "sort_files"};
  for (const auto& [name, text] : options.given()) words.push_back(text.empty() ? name : name + "=" + text);
  for (const std::string& input : inputs) words.push_back("input=" + input);
  return words;
}

Call call_of(const Caller& caller, const job::SortRequest& request, const job::Options& options,
             const std::string& mistake) {
  return {caller.ranks, caller.control, job::communication_of(request.ranks), options.shared(),
          caller.mistake.empty() ? mistake : caller.mistake};
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

/// Refuses options of a sort of files. Throws: RequestError if there is one.
void refuse_options_of_files(const job::Options& in_memory, const NamedTexts& texts) {
  job::SortRequest unused;
  job::Options of_files;
  job::add_one_sort_options(of_files, unused);
  for (const auto& [name, text] : texts)
    if (in_memory.find(name) == nullptr && of_files.find(name) != nullptr)
      throw job::RequestError(fmt::format("a sort in memory has no option '{}'", name));
}

}  // namespace

void set_text(job::Options& options, std::string_view name, const std::string& text) {
  refuse_zero_bytes(text);
  options.set(name, text);
}

void set_all(job::Options& options, const NamedTexts& texts) {
  if (options.find("output") == nullptr) refuse_options_of_files(options, texts);
  for (const auto& [name, text] : texts) set_text(options, name, text);
}

void set_words(job::Options& options, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto set_with_value = [&](const job::Option& option, bool joined, const std::string& value) {
      if (!joined && i + 1 == words.size())
        throw job::RequestError(fmt::format("option '{}' wants a value", option.id()));
      set_text(options, option.id(), joined ? value : words[++i]);
    };
    if (!word.starts_with('-') || word.size() < 2) throw job::RequestError(fmt::format("'{}' is no option", word));
    if (word.starts_with("--")) {
      const std::size_t equals = std::min(word.find('='), word.size());
      const job::Option* const option = options.find(std::string_view(word).substr(2, equals - 2));
      if (option == nullptr) throw job::RequestError(fmt::format("unknown option '{}'", word.substr(0, equals)));
      if (option->is_switch())
        set_text(options, option->id(), word.substr(std::min(equals + 1, word.size())));
      else
        set_with_value(*option, equals < word.size(), word.substr(std::min(equals + 1, word.size())));
      continue;
    }
    for (std::size_t at = 1; at < word.size(); ++at) {
      const job::Option* const option = options.find_letter(word[at]);
      if (option == nullptr) throw job::RequestError(fmt::format("unknown option '-{}'", word[at]));
      if (option->is_switch()) {
        set_text(options, option->id(), "");
        continue;
      }
      set_with_value(*option, at + 1 < word.size(), word.substr(at + 1));
      break;
    }
  }
}

void set_layout(job::SortRequest& request, job::Options& options, const Layout& layout) {
  request.records.record_bytes = layout.record_bytes;
  options.note("record-size", std::to_string(layout.record_bytes));
  for (const std::string& key : layout.keys) set_text(options, "key", key);
}

void set_resources(job::SortRequest& request, job::Options& options, const Resources& resources) {
  if (!resources.memory.empty()) set_text(options, "memory", resources.memory);
  if (resources.threads != 0) request.resources.threads = resources.threads;
}

SortResult sort_files(const FillSort& fill, const Caller& caller) {
  job::SortRequest request;
  job::Options options;
  job::add_one_sort_options(options, request);
  job::SortJob job;
  const std::string mistake = mistake_in([&] {
    fill(request, options);
    std::ranges::for_each(request.phases.input.paths, refuse_zero_bytes);
    options.check_exclusions();
    job = job::sort_job_of(request);
    if (job.options.input.paths.empty()) throw job::RequestError("no input is named");
  });
  Call call = call_of(caller, request, options, mistake);
  for (const std::string& input : request.phases.input.paths) call.shared.push_back({"input", input});
  SortResult result;
  run_call(call, [&](comm::Communicator& ranks) {
    job::files_of(request, job).check(ranks);
    job::resolve(job, request, ranks);
    job::LoggedSort run(job, ranks,
                        {.command_line = words_of(options, request.phases.input.paths), .start = ranks.job_start()});
    {
      const Watching watching(run.monitor(), call);
      run.run();
    }
    if (const std::string path = job::learned_path(job); ranks.rank() == 0 && !path.empty()) {
      io::OutputFile learned(path);
      job::write_text(learned, job::learned_text(job, run, ranks).text);
    }
    const sort::RankResult& done = run.result();
    result = {done.all.records, done.all_bytes, done.bytes_spilled, run.monitor().phases().back().end,
              ranks.rank() == 0 ? run.report() : ""};
  });
  return result;
}

void sort_in_memory(const FillSort& fill, const Caller& caller, std::span<const std::byte> records,
                    std::span<std::byte> sorted, std::span<std::uint64_t> places) {
  job::SortRequest request;
  job::Options options;
  job::add_memory_sort_options(options, request);
  sort::RecordLayout layout;
  const std::string mistake = mistake_in([&] {
    fill(request, options);
    options.check_exclusions();
    layout = job::layout_of(request.records);
  });
  Call call = call_of(caller, request, options, mistake);
  // Until all ranks have succeeded the records stay as they are.
  io::Buffer staged;
  std::size_t threads = 1;
  run_call(call, [&](comm::Communicator& ranks) {
    const job::Resources resources = job::resources_of(request.resources, {"-"}, ranks);
    const std::uint64_t staged_bytes = overlap(records, sorted) ? sorted.size() : 0;
    if (staged_bytes > resources.memory_bytes)
      throw sort::MemoryTooSmall(fmt::format("memory of {} does not suffice for a copy of the result of {}",
                                             io::human_size(resources.memory_bytes), io::human_size(staged_bytes)));
    if (staged_bytes > 0) staged = io::Buffer(staged_bytes);
    sort::Monitor monitor(false, ranks.job_start());
    sort::RankResult result;
    job::count_all_ranks(monitor, ranks);
    const Watching watching(monitor, call);
    sort::sort_memory({.layout = layout,
                       .records = records,
                       .sorted = staged.size_bytes() > 0 ? staged.span() : sorted,
                       .memory_bytes = resources.memory_bytes - staged_bytes,
                       .threads = resources.threads,
                       .places = places},
                      ranks, monitor, result);
    threads = result.threads;
  });
  if (staged.size_bytes() > 0) copy_records(staged.span(), sorted, threads);
}

void check_option(const std::string& name, bool has_value) {
  if (name.empty() || name.starts_with('-') || name.find('=') != std::string::npos)
    throw_request_error(fmt::format("no option has the name '{}'", name));
  if (has_value) return;
  job::SortRequest sort;
  job::PlanRequest plan;
  job::Options of_sort;
  job::Options of_plan;
  job::add_one_sort_options(of_sort, sort);
  job::add_plan_options(of_plan, plan, "");
  for (const job::Options* const options : {&of_sort, &of_plan})
    if (const job::Option* const option = options->find(name); option != nullptr && !option->is_switch())
      throw_request_error(fmt::format("option '{}' wants a value", name));
}

Planned plan(const NamedTexts& texts) {
  try {
    job::PlanRequest request;
    job::Options options;
    job::add_plan_options(options, request, "");
    for (const auto& [name, text] : texts) set_text(options, name, text);
    options.check_exclusions();
    job::check_plan(options, request);
    const job::PreparedPlan prepared = job::prepare_plan(request);
    const partition::Plan plan = job::plan_of(prepared);
    Planned planned{job::plan_json(plan), {}};
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
