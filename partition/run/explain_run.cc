// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/explain_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "partition/run/best_output.h"
#include "partition/run/phase_costs.h"
#include "partition/run/predict_run.h"
#include "partition/run/rank_intervals.h"

namespace hetsort::partition {
namespace {

constexpr std::size_t kMaxCandidates = 64;  // ranks that are tried alone
constexpr std::size_t kMaxNames = 3;

std::string all_ranks(const RunModel& model) {
  return model.ranks.size() == 2 ? "both ranks" : fmt::format("all {} ranks", model.ranks.size());
}

/// What takes the longest in the exchange of the last rank, as a subject with its verb.
std::string_view bound_of(const RunPrediction& run) {
  if (run.exchange_seconds < run.form_seconds) return "forming runs takes longest";
  switch (std::ranges::max_element(run.exchange, {}, &PhaseTime::seconds)->bound) {
    case Resource::kLinkIn:
    case Resource::kLinkOut:
    case Resource::kSharedLink:
      return "links bound the exchange";
    case Resource::kDisk:
    case Resource::kSharedDisk:
      return "disks bound the exchange";
    case Resource::kMemory:
      return "records that do not fit in memory bound the exchange";
    case Resource::kProcessor:
      return "processors bound the exchange: they merge, and they send and receive";
    case Resource::kNone:
      break;
  }
  return "nothing bounds the exchange";
}

/// The rank that sorts all records alone in the shortest time, and this time.
struct Alone {
  std::size_t rank = 0;
  RunPrediction run;
};

std::optional<Alone> best_alone(const RunModel& model, std::int64_t records) {
  std::optional<Alone> best;
  for (std::size_t rank = 0; rank < std::min(kMaxCandidates, model.ranks.size()); ++rank) {
    if (cap_of(model.ranks[rank], records) < records) continue;
    std::vector<std::int64_t> all(model.ranks.size(), 0);
    all[rank] = records;
    RunPrediction run = predict_run(model, all, all);
    if (!best || run.seconds < best->run.seconds) best = {rank, std::move(run)};
  }
  return best;
}

/// All ranks, with input by the speed of their processors, as far as they can hold it.
RunPrediction race(const RunModel& model, std::int64_t records) {
  std::vector<double> speeds;
  const double share = static_cast<double>(records) / static_cast<double>(model.ranks.size());
  for (const RankResources& rank : model.ranks) speeds.push_back(1 / std::max(1e-300, rank.sort->value(share)));
  double left_speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::int64_t left = records;
  std::vector<std::int64_t> input;
  for (std::size_t rank = 0; rank < speeds.size(); ++rank) {
    const double part = static_cast<double>(left) * (speeds[rank] / left_speed);
    const bool last = rank + 1 == speeds.size();
    input.push_back(last ? left : std::min(cap_of(model.ranks[rank], left), whole_part(part, left)));
    left -= input.back();
    left_speed -= speeds[rank];
  }
  return predict_run(model, input, best_output(model, input));
}

std::string users_of(const RunModel& model, const std::vector<std::size_t>& ranks) {
  if (ranks.size() == model.ranks.size()) return all_ranks(model);
  if (ranks.size() > kMaxNames) return fmt::format("{} of {} ranks", ranks.size(), model.ranks.size());
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (const std::size_t rank : ranks) names.push_back(model.ranks[rank].name);
  if (names.size() == 1) return names.front() + " alone";
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace

std::string explain_run(const RunModel& model, std::span<const std::int64_t> input,
                        std::span<const std::int64_t> output, InputChoice choice) {
  const std::int64_t records = std::accumulate(input.begin(), input.end(), std::int64_t{0});
  if (records == 0 || model.ranks.size() < 2) return "";
  const RunPrediction planned = predict_run(model, input, output);
  std::vector<std::size_t> users;
  for (std::size_t rank = 0; rank < input.size(); ++rank)
    if (input[rank] > 0 || output[rank] > 0) users.push_back(rank);
  const auto takes = [](std::size_t ranks) { return ranks == 1 ? "takes" : "take"; };
  std::string text = fmt::format("{} {} {:.2f} s", users_of(model, users), takes(users.size()), planned.seconds);
  if (choice == InputChoice::kGiven) return text + fmt::format(", and {}", bound_of(planned));
  if (users.size() < model.ranks.size()) {
    const RunPrediction all = race(model, records);
    return text + fmt::format("; {} take {:.2f} s, because {}", all_ranks(model), all.seconds, bound_of(all));
  }
  text += fmt::format(", and {}", bound_of(planned));
  if (const std::optional<Alone> alone = best_alone(model, records))
    text += fmt::format("; {} alone takes {:.2f} s", model.ranks[alone->rank].name, alone->run.seconds);
  return text;
}

}  // namespace hetsort::partition
