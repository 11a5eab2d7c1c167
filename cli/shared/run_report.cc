// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/run_report.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>

#include "cli/report/json.h"
#include "io/calls/system_calls.h"
#include "io/publish.h"
#include "sort/machine/memory_budget.h"
#include "version.h"

namespace hetsort::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

Json context(const RunSummary& summary) {
  const sort::RecordLayout& layout = summary.options.layout;
  utsname system{};
  ::uname(&system);
  return {{"hetsort", kVersion},
          {"command", summary.command_line},
          {"date", utc_now()},
          {"processor", processor_name()},
          {"system", fmt::format("{} {}", system.sysname, system.release)},
          {"record_size", layout.is_lines() ? Json(nullptr) : Json(layout.record_bytes)},
          {"key", layout.is_lines() ? Json(nullptr) : Json(sort::key_text(layout))},
          {"io", io::name_of(summary.options.access)},
          {"temp_directories", summary.options.spill.directories},
          {"in_memory", summary.result.all_in_memory}};
}

/// Seconds since the system started this process, to a hundredth.
double process_seconds() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // The name of the program, in parentheses, may contain anything. Field 3 follows it.
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 2, text.size())));
  constexpr int kStartField = 22;
  std::string field;
  for (int number = 3; number <= kStartField && fields >> field; ++number) continue;
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  std::uint64_t ticks = 0;
  std::from_chars(field.data(), field.data() + field.size(), ticks);
  const double started = static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - started;
}

Json phases_of(const sort::Monitor& monitor) {
  Json phases = Json::array();
  for (const sort::PhaseTime& phase : monitor.phases())
    phases.push_back({{"name", phase.name}, {"begin", phase.begin}, {"end", phase.end}});
  return phases;
}

void add_prediction(Json& rank, const std::string& phase, const std::optional<partition::PhaseTime>& predicted) {
  if (!predicted) return;
  rank["predicted_" + phase + "_seconds"] = predicted->seconds;
  rank[phase + "_bound"] = partition::resource_name(predicted->bound);
}

const char* name_of(comm::ExchangeMode mode) {
  return mode == comm::ExchangeMode::kInline ? "inline" : mode == comm::ExchangeMode::kThread ? "thread" : "threads";
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm fields{};
  ::gmtime_r(&now, &fields);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text.data();
}

Spent spent_so_far(const comm::Communicator& ranks) {
  const io::Traffic traffic = io::traffic();
  return {traffic.bytes_read,     traffic.bytes_written, ranks.bytes_sent(),
          ranks.bytes_received(), ranks.cpu_seconds(),   sort::EnergyMeter()};
}

std::string rank_report(const RunSummary& summary) {
  const sort::RankResult& result = summary.result;
  const Spent& before = summary.before;
  const Spent now = spent_so_far(summary.ranks);
  Json rank{{"rank", summary.ranks.rank()},
            {"host", summary.ranks.host()},
            {"threads", result.threads},
            {"planned_input_records", result.planned_input_records},
            {"planned_output_records", result.planned_output_records},
            {"input_records", result.input.records},
            {"output_records", result.output.records},
            {"work_seconds", result.work.seconds},
            {"verified_bytes", result.verified_bytes},
            {"verify_seconds", result.verify_seconds},
            {"runs", result.runs},
            {"in_memory", result.in_memory},
            {"runs_in_memory", result.runs_in_memory},
            {"bytes_read", now.bytes_read - before.bytes_read},
            {"bytes_written", now.bytes_written - before.bytes_written},
            {"bytes_spilled", result.bytes_spilled},
            {"bytes_sent", now.bytes_sent - before.bytes_sent},
            {"bytes_received", now.bytes_received - before.bytes_received},
            {"memory_limit_bytes", summary.options.memory_bytes},
            {"peak_rss_bytes", sort::peak_rss_bytes()},
            {"communication_cpu_seconds", now.communication_cpu_seconds - before.communication_cpu_seconds},
            {"phases", phases_of(summary.monitor)}};
  const std::optional<double> joules = before.energy.joules();
  rank["process_seconds"] = process_seconds();
  rank["host_joules"] = joules ? Json(*joules) : Json(nullptr);
  for (const sort::RankResult::WrittenFile& file : result.outputs)
    rank["outputs"].push_back({{"path", file.path}, {"bytes", file.bytes}});
  if (result.unique_records) rank["unique_records"] = *result.unique_records;
  if (result.link_bytes_per_second) rank["link_bytes_per_second"] = *result.link_bytes_per_second;
  add_prediction(rank, "form_runs", result.predicted_form);
  add_prediction(rank, "exchange", result.predicted_exchange);
  return json_text(rank);
}

namespace {

double latest_process(const Json& ranks) {
  double latest = 0;
  for (const Json& rank : ranks) latest = std::max(latest, rank["process_seconds"].get<double>());
  return latest;
}

/// The energy of all hosts; null if that of one is not known. The ranks of a host read the same counters: the highest
/// value is the latest.
Json joules_of_hosts(const Json& ranks) {
  std::map<std::string, double> of_host;
  for (const Json& rank : ranks) {
    if (rank["host_joules"].is_null()) return nullptr;
    double& joules = of_host[rank["host"].get<std::string>()];
    joules = std::max(joules, rank["host_joules"].get<double>());
  }
  double sum = 0;
  for (const auto& [host, joules] : of_host) sum += joules;
  return sum;
}

double seconds_of(const sort::Monitor& monitor) {
  const std::vector<sort::PhaseTime> phases = monitor.phases();
  return phases.empty() ? 0 : phases.back().end;
}

}  // namespace

std::string report_json(const RunSummary& summary, const std::vector<std::string>& ranks) {
  const sort::RankResult& result = summary.result;
  const bool alone = summary.ranks.size() == 1;
  const sort::MultisetDigest& all = alone || !summary.error.empty() ? result.input : result.all;
  Json report{{"schema", "hetsort.run/1"},
              {"records", all.records},
              {"bytes", result.all_bytes > 0 ? result.all_bytes : all.records * summary.options.layout.record_bytes},
              {"fingerprint", fmt::format("{:016x}", all.fingerprint)}};
  if (summary.options.output.checksum) report["checksum"] = result.checksum;
  report["seconds"] = seconds_of(summary.monitor);
  report["strategy"] = result.strategy;
  report["exchange"] = alone ? Json(nullptr) : Json(name_of(summary.ranks.mode()));
  report["predicted_seconds"] = result.predicted_seconds > 0 ? Json(result.predicted_seconds) : Json(nullptr);
  report["ranks"] = Json::array();
  for (const std::string& rank : ranks) report["ranks"].push_back(Json::parse(rank));
  report["process_seconds"] = latest_process(report["ranks"]);
  report["joules"] = joules_of_hosts(report["ranks"]);
  report["context"] = context(summary);
  if (!summary.error.empty()) report["error"] = summary.error;
  return json_text(report) + "\n";
}

std::string rank_trace(const RunSummary& summary) {
  Json events = Json::array();
  // Times are whole numbers: a viewer adds begin and duration, and the sum must not exceed the begin of the next event.
  const auto microseconds = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e6); };
  const auto add = [&](const std::string& name, std::size_t lane, double begin, double end) {
    events.push_back({{"name", name},
                      {"ph", "X"},
                      {"pid", summary.ranks.rank()},
                      {"tid", lane},
                      {"ts", microseconds(begin)},
                      {"dur", microseconds(end) - microseconds(begin)}});
  };
  const auto label = [&](const char* kind, std::size_t lane, const std::string& name) {
    events.push_back(
        {{"name", kind}, {"ph", "M"}, {"pid", summary.ranks.rank()}, {"tid", lane}, {"args", {{"name", name}}}});
  };
  label("process_name", 0, fmt::format("rank {} ({})", summary.ranks.rank(), summary.ranks.host()));
  label("thread_name", 0, "phases");
  for (std::size_t thread = 0; thread < summary.result.threads; ++thread)
    label("thread_name", thread + 1, fmt::format("thread {}", thread));
  label("thread_name", summary.result.threads + 1, "sender");
  for (const sort::PhaseTime& phase : summary.monitor.phases()) add(phase.name, 0, phase.begin, phase.end);
  for (const sort::TraceEvent& event : summary.monitor.events())
    add(event.name, event.thread + 1, event.begin, event.end);
  return json_text(events);
}

std::string trace_json(const std::vector<std::string>& ranks) {
  Json events = Json::array();
  for (const std::string& rank : ranks)
    for (Json& event : Json::parse(rank)) events.push_back(std::move(event));
  return json_text(Json{{"traceEvents", events}, {"displayTimeUnit", "ms"}}) + "\n";
}

void write_text(io::OutputFile& output, const std::string& text) {
  output.file().write(std::as_bytes(std::span(text)));
  output.publish(false);
}

}  // namespace hetsort::cli
