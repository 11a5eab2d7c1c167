// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/report/json.h"

namespace hetsort::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRunSchema = "hetsort.run/1";
constexpr const char* kCompareSchema = "hetsort.compare/1";

PhaseSpan phase_of(const Place& place) {
  PhaseSpan phase{place.at("name").text(), place.at("begin").seconds(), place.at("end").seconds()};
  if (phase.end < phase.begin) place.at("end").fail("a phase that ends before it begins");
  return phase;
}

std::optional<PhasePrediction> prediction_of(const Place& rank, const std::string& phase) {
  const std::string seconds = fmt::format("predicted_{}_seconds", phase);
  if (!rank.has(seconds)) return std::nullopt;
  return PhasePrediction{rank.at(seconds).seconds(), rank.at(phase + "_bound").text()};
}

std::vector<OutputPart> outputs_of(const Place& place) {
  std::vector<OutputPart> outputs;
  outputs.reserve(place.size());
  for (std::size_t i = 0; i < place.size(); ++i)
    outputs.push_back({place.at(i).at("path").text(), place.at(i).at("bytes").count()});
  return outputs;
}

RankReport rank_of(const Place& place) {
  RankReport rank{.rank = place.at("rank").count(),
                  .host = place.at("host").text(),
                  .threads = place.at("threads").count(),
                  .planned_input_records = place.at("planned_input_records").count(),
                  .planned_output_records = place.at("planned_output_records").count(),
                  .input_records = place.at("input_records").count(),
                  .output_records = place.at("output_records").count(),
                  .runs = place.at("runs").count(),
                  .bytes_read = place.at("bytes_read").count(),
                  .bytes_written = place.at("bytes_written").count(),
                  .bytes_spilled = place.at("bytes_spilled").count(),
                  .bytes_sent = place.at("bytes_sent").count(),
                  .bytes_received = place.at("bytes_received").count(),
                  .memory_limit_bytes = place.at("memory_limit_bytes").count(),
                  .peak_rss_bytes = place.at("peak_rss_bytes").count(),
                  .communication_cpu_seconds = place.at("communication_cpu_seconds").seconds(),
                  .phases = {}};
  rank.predicted_form = prediction_of(place, "form_runs");
  rank.predicted_exchange = prediction_of(place, "exchange");
  if (place.has("outputs")) rank.outputs = outputs_of(place.at("outputs"));
  const Place phases = place.at("phases");
  for (std::size_t i = 0; i < phases.size(); ++i) rank.phases.push_back(phase_of(phases.at(i)));
  return rank;
}

std::vector<RankReport> ranks_of(const Place& place) {
  std::vector<RankReport> ranks;
  std::set<std::uint64_t> seen;
  for (std::size_t i = 0; i < place.size(); ++i) {
    ranks.push_back(rank_of(place.at(i)));
    if (!seen.insert(ranks.back().rank).second)
      place.at(i).at("rank").fail(fmt::format("rank {} stands twice", ranks.back().rank));
  }
  std::sort(ranks.begin(), ranks.end(), [](const RankReport& a, const RankReport& b) { return a.rank < b.rank; });
  return ranks;
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

std::string text_or_nothing(const Place& place, const std::string& key) {
  return place.has(key) ? place.at(key).text() : "";
}

void check_schema(const Place& place, const std::string& wanted) {
  const std::string schema = place.at("schema").text();
  if (schema != wanted) place.at("schema").fail(fmt::format("'{}' where this version reads '{}'", schema, wanted));
}

RunReport run_of(const Place& place, const std::string& file) {
  check_schema(place, kRunSchema);
  RunReport run{.file = file,
                .round = std::nullopt,
                .strategy = place.at("strategy").text(),
                .exchange = text_or_nothing(place, "exchange"),
                .records = place.at("records").count(),
                .bytes = place.at("bytes").count(),
                .fingerprint = place.at("fingerprint").text(),
                .checksum = text_or_nothing(place, "checksum"),
                .seconds = place.at("seconds").seconds(),
                .predicted_seconds = std::nullopt,
                .process_seconds = std::nullopt,
                .joules = std::nullopt,
                .ranks = ranks_of(place.at("ranks")),
                .context = {},
                .error = text_or_nothing(place, "error")};
  if (place.has("process_seconds")) run.process_seconds = place.at("process_seconds").seconds();
  if (place.has("joules")) run.joules = place.at("joules").seconds();
  if (place.has("predicted_seconds")) run.predicted_seconds = place.at("predicted_seconds").seconds();
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

double seconds_in(const RankReport& rank, std::string_view phase) {
  double seconds = 0;
  for (const PhaseSpan& span : rank.phases)
    if (span.name == phase) seconds += span.end - span.begin;
  return seconds;
}

}  // namespace

double RankReport::form_seconds() const { return seconds_in(*this, "form_runs"); }

double RankReport::exchange_seconds() const { return seconds_in(*this, "exchange") + seconds_in(*this, "merge_runs"); }

bool RunReport::has_several_outputs() const {
  return std::ranges::any_of(ranks, [](const RankReport& rank) { return !rank.outputs.empty(); });
}

bool RunReport::has_predictions() const {
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

std::vector<RunReport> read_runs(const std::string& text, const std::string& file) {
  const Json json = parse_report_json(text, file);
  const Place whole(json, file);
  const std::string schema = whole.at("schema").text();
  if (schema == kCompareSchema) return compared_runs(whole, file);
  if (schema == kRunSchema) return {run_of(whole, file)};
  whole.at("schema").fail(
      fmt::format("'{}' is not a report this version reads ({}, {})", schema, kRunSchema, kCompareSchema));
}

}  // namespace hetsort::cli
