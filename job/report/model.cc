// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "job/report/fields.h"

namespace hetsort::job {

// The fields of a report. fields.h finds these by the types of their arguments.

/// The type T, constant or not.
template <class Object, class T>
concept Is = std::same_as<std::remove_const_t<Object>, T>;

template <class Fields, Is<WaitReport> Wait>
void describe(Fields& fields, Wait& wait) {
  fields("begin", wait.begin);
  fields("end", wait.end);
  fields("part", wait.part);
}

template <class Fields, Is<WaitedFor> Waited>
void describe(Fields& fields, Waited& waited) {
  fields("rank", waited.rank);
  fields("seconds", waited.seconds);
}

template <class Fields, Is<PhaseSpan> Phase>
void describe(Fields& fields, Phase& phase) {
  fields("name", phase.name);
  fields("begin", phase.begin);
  fields("end", phase.end);
  fields.later("processor_seconds", phase.processor_seconds);
  fields.if_any("worked_seconds", phase.worked_seconds);
  fields.if_any("waits", phase.waits);
  fields.if_any("waited_for", phase.waited_for);
}

template <class Fields, Is<TakenPart> Part>
void describe(Fields& fields, Part& part) {
  fields("from", part.from);
  fields("ranges", part.ranges);
  fields("bytes", part.bytes);
}

template <class Fields, Is<CopiedPart> Part>
void describe(Fields& fields, Part& part) {
  fields("from", part.from);
  fields("records", part.records);
}

template <class Fields, Is<OutputPart> Part>
void describe(Fields& fields, Part& part) {
  fields("path", part.path);
  fields("bytes", part.bytes);
}

template <class Fields, Is<MeasuredRank> Measured>
void describe(Fields& fields, Measured& measured) {
  fields("processors", measured.processors);
  fields("form_seconds_per_record", measured.form_seconds);
  fields("merge_seconds_per_record", measured.merge_seconds);
  fields.if_any("message_seconds_per_byte", measured.message_seconds);
  fields.rate("link_in_bytes_per_second", measured.link_in);
  fields.rate("link_out_bytes_per_second", measured.link_out);
  fields.rate("disk_write_bytes_per_second", measured.disk_write);
}

template <class Fields, Is<RankReport> Rank>
void describe(Fields& fields, Rank& rank) {
  fields("rank", rank.rank);
  fields("host", rank.host);
  fields("threads", rank.threads);
  fields("planned_input_records", rank.planned_input_records);
  fields("planned_output_records", rank.planned_output_records);
  fields("input_records", rank.input_records);
  fields("output_records", rank.output_records);
  fields.later("work_seconds", rank.work_seconds);
  fields.later("verified_bytes", rank.verified_bytes);
  fields.later("verify_seconds", rank.verify_seconds);
  fields("runs", rank.runs);
  fields.later("in_memory", rank.in_memory);
  fields.later("runs_in_memory", rank.runs_in_memory);
  fields("bytes_read", rank.bytes_read);
  fields("bytes_written", rank.bytes_written);
  fields("bytes_spilled", rank.bytes_spilled);
  fields("bytes_sent", rank.bytes_sent);
  fields("bytes_received", rank.bytes_received);
  fields.later("bytes_shared", rank.bytes_shared);
  fields("memory_limit_bytes", rank.memory_limit_bytes);
  fields("peak_rss_bytes", rank.peak_rss_bytes);
  fields("communication_cpu_seconds", rank.communication_cpu_seconds);
  fields("phases", rank.phases);
  fields.or_null("process_seconds", rank.process_seconds);
  fields.or_null("host_joules", rank.host_joules);
  fields.if_any("outputs", rank.outputs);
  fields.if_any("taken_ranges", rank.taken);
  fields.if_any("copied_runs", rank.copied);
  fields.if_any("unique_records", rank.unique_records);
  fields.if_any("measured", rank.measured);
  fields.if_any("input_cached", rank.input_cached);
  fields.predicted("form_runs", rank.predicted_form);
  fields.predicted("exchange", rank.predicted_exchange);
}

/// Without `context` and `error`, which follow.
template <class Fields, Is<RunReport> Run>
void describe(Fields& fields, Run& run) {
  fields("records", run.records);
  fields("bytes", run.bytes);
  fields("fingerprint", run.fingerprint);
  fields.if_any("checksum", run.checksum);
  fields("seconds", run.seconds);
  fields("strategy", run.strategy);
  fields.if_any("explanation", run.explanation);
  fields.or_null("exchange", run.exchange);
  fields.or_null("predicted_seconds", run.predicted_seconds);
  fields("ranks", run.ranks);
  fields.or_null("process_seconds", run.process_seconds);
  fields.or_null("joules", run.joules);
}

void check_read(const Place& place, const PhaseSpan& phase) {
  if (phase.end < phase.begin) place.at("end").fail("a phase that ends before it begins");
}

void check_read(const Place& place, const WaitReport& wait) {
  if (wait.end < wait.begin) place.at("end").fail("a wait that ends before it begins");
  if (wait.part > 1) place.at("part").fail("a part above 1");
}

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRunSchema = "hetsort.run/1";
constexpr const char* kCompareSchema = "hetsort.compare/1";

/// Puts the ranks in order. Throws: ReportError for one that stands twice.
void sort_ranks(std::vector<RankReport>& ranks, const Place& place) {
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (!seen.insert(ranks[i].rank).second)
      place.at(i).at("rank").fail(fmt::format("rank {} stands twice", ranks[i].rank));
  std::sort(ranks.begin(), ranks.end(), [](const RankReport& a, const RankReport& b) { return a.rank < b.rank; });
}

/// The value as plain text: a string without quotes, a list with spaces between its items, anything else as JSON.
std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "none";
  if (!value.is_array() || value.empty()) return value.dump();
  std::string text;
  for (const Json& item : value) text += (text.empty() ? "" : " ") + plain_text(item);
  return text;
}

void check_schema(const Place& place, const std::string& wanted) {
  const std::string schema = place.at("schema").text();
  if (schema != wanted) place.at("schema").fail(fmt::format("'{}' where this version reads '{}'", schema, wanted));
}

RunReport run_of(const Place& place, const std::string& file) {
  check_schema(place, kRunSchema);
  RunReport run{.file = file};
  ReadFields fields(place);
  describe(fields, run);
  fields.if_any("error", run.error);
  sort_ranks(run.ranks, place.at("ranks"));
  for (const auto& [key, value] : place.at("context").object().items())
    run.context.emplace_back(key, plain_text(value));
  return run;
}

std::vector<RunReport> compared_runs(const Place& place, const std::string& file) {
  std::vector<RunReport> runs;
  const Place rounds = place.at("rounds");
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Place round = rounds.at(i);
    for (const auto& member : round.object().items()) {
      runs.push_back(run_of(round.at(member.key()), file));
      runs.back().strategy = member.key();
      runs.back().round = i + 1;
    }
  }
  if (runs.empty()) rounds.fail("no run in it");
  return runs;
}

/// The time of the named phases of a rank, as `seconds` measures it.
double sum_of(const RankReport& rank, std::initializer_list<std::string_view> names,
              double (PhaseSpan::*seconds)() const) {
  double sum = 0;
  for (const PhaseSpan& phase : rank.phases)
    if (std::ranges::find(names, phase.name) != names.end()) sum += (phase.*seconds)();
  return sum;
}

}  // namespace

std::string rank_label(const RankReport& rank) { return fmt::format("{} {}", rank.rank, rank.host); }

double RankReport::worked_in(std::initializer_list<std::string_view> names) const {
  return sum_of(*this, names, &PhaseSpan::worked);
}

double RankReport::waited_seconds() const {
  double sum = 0;
  for (const PhaseSpan& phase : phases) sum += phase.waited();
  return sum;
}

std::optional<double> PhaseComparison::ratio() const {
  if (!measured || !(predicted > 0)) return std::nullopt;
  return *measured / predicted;
}

std::optional<PhaseComparison> compare_form(const RankReport& rank) {
  if (!rank.predicted_form) return std::nullopt;
  return PhaseComparison{rank.predicted_form->seconds, rank.predicted_form->bound, rank.worked_in({"form_runs"})};
}

std::optional<PhaseComparison> compare_exchange(const RunReport& run, const RankReport& rank) {
  constexpr double kAsLate = 0.9;  // of two ranks as late as each other, this much is no difference
  if (!rank.predicted_exchange) return std::nullopt;
  const std::initializer_list<std::string_view> names{"exchange", "merge_runs"};
  PhaseComparison found{rank.predicted_exchange->seconds, rank.predicted_exchange->bound};
  if (found.bound.find("link") == std::string::npos) {
    found.measured = rank.worked_in(names);
    return found;
  }
  const double whole = sum_of(rank, names, &PhaseSpan::seconds);
  const bool is_latest = std::ranges::none_of(run.ranks, [&](const RankReport& other) {
    const bool later = other.predicted_exchange && kAsLate * other.predicted_exchange->seconds > found.predicted;
    return later || (&other != &rank && sum_of(other, names, &PhaseSpan::known_work) > kAsLate * whole);
  });
  if (is_latest) found.measured = whole;
  return found;
}

SlowestRank slowest_in(const RunReport& run, std::string_view phase) {
  SlowestRank slowest;
  for (const RankReport& rank : run.ranks) {
    const double worked = rank.worked_in({phase});
    if (slowest.rank == nullptr || worked > slowest.worked_seconds) slowest = {&rank, worked};
  }
  return slowest;
}

std::string RunReport::label_of_rank(std::uint64_t number) const {
  const auto rank = std::ranges::find(ranks, number, &RankReport::rank);
  return rank == ranks.end() ? std::to_string(number) : rank_label(*rank);
}

bool RunReport::has_several_outputs() const {
  return std::ranges::any_of(ranks, [](const RankReport& rank) { return !rank.outputs.empty(); });
}

bool RunReport::has_predictions() const {
  return std::ranges::any_of(ranks,
                             [](const RankReport& rank) { return rank.predicted_form || rank.predicted_exchange; });
}

bool RunReport::has_whole_predictions() const {
  return std::ranges::any_of(ranks,
                             [](const RankReport& rank) { return rank.predicted_form && rank.predicted_exchange; });
}

double RankReport::begin() const {
  double first = phases.empty() ? 0 : phases.front().begin;
  for (const PhaseSpan& phase : phases) first = std::min(first, phase.begin);
  return first;
}

double RankReport::finish() const {
  double last = 0;
  for (const PhaseSpan& phase : phases) last = std::max(last, phase.end);
  return last;
}

double RankReport::work_end() const {
  double last = 0;
  for (const PhaseSpan& phase : phases) last = std::max(last, phase.name == "publish" ? phase.begin : phase.end);
  return last;
}

double RankReport::busy_seconds() const {
  constexpr double kShortest = 1e-6;
  const double busy = finish() - begin();
  return busy < kShortest ? 0 : busy;
}

double RunReport::last_event() const {
  double last = seconds;
  for (const RankReport& rank : ranks) last = std::max(last, rank.finish());
  return last;
}

std::string rank_json(const RankReport& rank) {
  Json json;
  WriteFields fields(json);
  describe(fields, rank);
  return json_text(json);
}

std::string run_json(const RunReport& run, const Json& context) {
  Json json{{"schema", kRunSchema}};
  WriteFields fields(json);
  describe(fields, run);
  json["context"] = context;
  fields.if_any("error", run.error);
  return json_text(json) + "\n";
}

RankReport read_rank(const std::string& text) {
  const std::string file = "of a rank";
  const Json json = Json::parse(text);
  const Place place(json, file);
  RankReport rank;
  ReadFields fields(place);
  describe(fields, rank);
  return rank;
}

std::vector<RunReport> read_runs(const std::string& text, const std::string& file) {
  const Json json = parse_report_json(text, file);
  const Place whole(json, file);
  const std::string schema = whole.at("schema").text();
  if (schema == kCompareSchema) return compared_runs(whole, file);
  if (schema == kRunSchema) return {run_of(whole, file)};
  whole.at("schema").fail(
      fmt::format("'{}' is not a report this version reads ({}, {})", schema, kRunSchema, kCompareSchema));
}

}  // namespace hetsort::job
