// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/report/run_report.h"

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

#include "io/calls/system_calls.h"
#include "io/publish.h"
#include "job/report/json.h"
#include "job/report/model.h"
#include "job/report/version.h"
#include "sort/machine/memory_budget.h"

namespace hetsort::job {

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
  const bool has_size = !layout.is_lines();
  utsname system{};
  ::uname(&system);
  return {{"hetsort", kVersion},
          {"command", summary.command_line},
          {"date", utc_now()},
          {"processor", processor_name()},
          {"system", fmt::format("{} {}", system.sysname, system.release)},
          {"record_size", has_size ? Json(layout.record_bytes) : Json()},
          {"key", has_size ? Json(sort::key_text(layout)) : Json()},
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

std::optional<PhasePrediction> prediction_of(const std::optional<partition::PhaseTime>& predicted) {
  if (!predicted) return std::nullopt;
  return PhasePrediction{predicted->seconds, std::string(partition::resource_name(predicted->bound))};
}

std::optional<double> known(double rate) { return rate > 0 ? std::optional(rate) : std::nullopt; }

/// What `auto` measured of the rank.
std::optional<MeasuredRank> measured_of(const sort::MeasuredJob& job, int rank) {
  if (job.rates.empty()) return std::nullopt;
  const sort::RankRates& rates = job.rates[static_cast<std::size_t>(rank)];
  return MeasuredRank{.processors = rates.processors,
                      .form_seconds = rates.form_seconds,
                      .merge_seconds = rates.merge_seconds,
                      .message_seconds = known(rates.message_seconds),
                      .link_in = known(rates.link_in),
                      .link_out = known(rates.link_out),
                      .disk_write = known(rates.disk_write)};
}

PhaseSpan span_of(const sort::PhaseTime& phase) {
  PhaseSpan span{.name = phase.name,
                 .begin = phase.begin,
                 .end = phase.end,
                 .processor_seconds = phase.processor_seconds,
                 .worked_seconds = phase.worked_seconds};
  for (const sort::WaitSpan& wait : phase.waits) span.waits.push_back({wait.begin, wait.end, wait.part});
  for (const sort::WaitForRank& waited : phase.waited_for)
    span.waited_for.push_back({static_cast<std::uint64_t>(waited.rank), waited.seconds});
  return span;
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
  return {traffic.bytes_read,   traffic.bytes_written, ranks.bytes_sent(), ranks.bytes_received(),
          ranks.bytes_shared(), ranks.cpu_seconds(),   sort::EnergyMeter()};
}

std::string rank_report(const RunSummary& summary) {
  const sort::RankResult& result = summary.result;
  const Spent& before = summary.before;
  const Spent now = spent_so_far(summary.ranks);
  RankReport rank{.rank = static_cast<std::uint64_t>(summary.ranks.rank()),
                  .host = summary.ranks.host(),
                  .threads = result.threads,
                  .planned_input_records = result.planned_input_records,
                  .planned_output_records = result.planned_output_records,
                  .input_records = result.input.records,
                  .output_records = result.output.records,
                  .work_seconds = result.work.seconds,
                  .verified_bytes = result.verified_bytes,
                  .verify_seconds = result.verify_seconds,
                  .runs = result.runs,
                  .in_memory = result.in_memory,
                  .runs_in_memory = result.runs_in_memory,
                  .bytes_read = now.bytes_read - before.bytes_read,
                  .bytes_written = now.bytes_written - before.bytes_written,
                  .bytes_spilled = result.bytes_spilled,
                  .bytes_sent = now.bytes_sent - before.bytes_sent,
                  .bytes_received = now.bytes_received - before.bytes_received,
                  .bytes_shared = now.bytes_shared - before.bytes_shared,
                  .memory_limit_bytes = summary.options.memory_bytes,
                  .peak_rss_bytes = sort::peak_rss_bytes(),
                  .communication_cpu_seconds = now.communication_cpu_seconds - before.communication_cpu_seconds,
                  .process_seconds = process_seconds(),
                  .host_joules = before.energy.joules(),
                  .unique_records = result.unique_records,
                  .measured = measured_of(result.measured, summary.ranks.rank()),
                  .input_cached = result.input_cached,
                  .predicted_form = prediction_of(result.predicted_form),
                  .predicted_exchange = prediction_of(result.predicted_exchange)};
  for (const sort::PhaseTime& phase : summary.monitor.phases()) rank.phases.push_back(span_of(phase));
  for (const sort::RankResult::WrittenFile& file : result.outputs) rank.outputs.push_back({file.path, file.bytes});
  for (const sort::RankResult::TakenRanges& taken : result.taken)
    rank.taken.push_back({taken.from, taken.ranges, taken.bytes});
  for (const sort::RankResult::CopiedRuns& copied : result.copied) rank.copied.push_back({copied.from, copied.records});
  return rank_json(rank);
}

namespace {

double latest_process(const std::vector<RankReport>& ranks) {
  double latest = 0;
  for (const RankReport& rank : ranks) latest = std::max(latest, rank.process_seconds.value_or(0));
  return latest;
}

/// The energy of all hosts; none if that of one is not known. The ranks of a host read the same counters: the highest
/// value is the latest.
std::optional<double> joules_of_hosts(const std::vector<RankReport>& ranks) {
  std::map<std::string, double> of_host;
  for (const RankReport& rank : ranks) {
    if (!rank.host_joules) return std::nullopt;
    double& joules = of_host[rank.host];
    joules = std::max(joules, *rank.host_joules);
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

RunReport run_report(const RunSummary& summary, const std::vector<std::string>& ranks) {
  const sort::RankResult& result = summary.result;
  const bool alone = summary.ranks.size() == 1;
  const sort::MultisetDigest& all = alone || !summary.error.empty() ? result.input : result.all;
  RunReport run{.records = all.records,
                .bytes = result.all_bytes > 0 ? result.all_bytes : all.records * summary.options.layout.record_bytes,
                .fingerprint = fmt::format("{:016x}", all.fingerprint),
                .checksum = summary.options.output.checksum ? result.checksum : "",
                .seconds = seconds_of(summary.monitor),
                .strategy = result.strategy,
                .explanation = result.explanation,
                .exchange = alone ? "" : name_of(summary.ranks.mode()),
                .error = summary.error};
  if (result.predicted_seconds > 0) run.predicted_seconds = result.predicted_seconds;
  for (const std::string& rank : ranks) run.ranks.push_back(read_rank(rank));
  run.process_seconds = latest_process(run.ranks);
  run.joules = joules_of_hosts(run.ranks);
  return run;
}

std::string report_json(const RunSummary& summary, const std::vector<std::string>& ranks) {
  return run_json(run_report(summary, ranks), context(summary));
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
  constexpr double kWaits = 0.5;  // smallest part of its threads that makes a rank wait
  for (const sort::PhaseTime& phase : summary.monitor.phases()) {
    add(phase.name, 0, phase.begin, phase.end);
    for (const sort::WaitSpan& wait : phase.waits)
      if (wait.part >= kWaits) add("wait for other ranks", 0, wait.begin, wait.end);
  }
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

}  // namespace hetsort::job
