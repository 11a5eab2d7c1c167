// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/run/run_model.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "partition/cost/error.h"

namespace hetsort::partition {
namespace {

struct RateField {
  std::string_view name;
  std::optional<double> DiskAndLinkRates::*rate;
};
constexpr std::array<RateField, 4> kRateFields{RateField{"link in", &DiskAndLinkRates::link_in},
                                               {"link out", &DiskAndLinkRates::link_out},
                                               {"disk read", &DiskAndLinkRates::disk_read},
                                               {"disk write", &DiskAndLinkRates::disk_write}};

/// The name of a value's owner in messages.
std::string node(std::string_view name) { return fmt::format("node '{}'", name); }
std::string all_nodes(std::string_view /*name*/) { return "all nodes together"; }
using Owner = std::string (*)(std::string_view name);

void check_rate(const std::optional<double>& rate, Owner owner, std::string_view name, std::string_view field) {
  if (rate && !(std::isfinite(*rate) && *rate > 0))
    throw PlanError(
        fmt::format("{}: the rate '{}' must be a finite number above zero, not {}", owner(name), field, *rate));
}

void check_seconds(double seconds, Owner owner, std::string_view name, std::string_view field) {
  if (!(std::isfinite(seconds) && seconds >= 0))
    throw PlanError(
        fmt::format("{}: '{}' must be a finite number of seconds, at least 0, not {}", owner(name), field, seconds));
}

void check_alone(const RankResources& rank) {
  if (!rank.sort) throw PlanError(node(rank.name) + " has no cost of forming runs");
  if (!rank.sort->non_decreasing()) throw PlanError(node(rank.name) + ": its cost of forming runs decreases somewhere");
  check_seconds(rank.merge_seconds, node, rank.name, "merge");
  check_seconds(rank.message.in, node, rank.name, "message in");
  check_seconds(rank.message.out, node, rank.name, "message out");
  for (const RateField& field : kRateFields) check_rate(rank.rates.*field.rate, node, rank.name, field.name);
  if (rank.memory_records.value_or(0) < 0 || rank.max_records.value_or(0) < 0)
    throw PlanError(node(rank.name) + ": its memory or its highest number of records is negative");
  if (!(rank.input_cached >= 0 && rank.input_cached <= 1))
    throw PlanError(fmt::format("{}: the cached part of its input must be a number from 0 to 1, not {}",
                                node(rank.name), rank.input_cached));
}

/// What only some ranks have would count as unlimited for the others. `has`: whether a rank has it.
template <typename Has>
void check_like_first(const RunModel& model, std::size_t rank, std::string_view field, const Has& has) {
  if (has(model.ranks[rank]) == has(model.ranks.front())) return;
  const std::size_t with = has(model.ranks[rank]) ? rank : 0;
  const std::size_t without = rank - with;
  throw NodeError(without, fmt::format("node '{}' has no '{}', but node '{}' has: give it for all nodes or for none",
                                       model.ranks[without].name, field, model.ranks[with].name));
}

void check_like_first(const RunModel& model, std::size_t rank) {
  for (const RateField& field : kRateFields)
    check_like_first(model, rank, field.name,
                     [&](const RankResources& one) { return (one.rates.*field.rate).has_value(); });
  check_like_first(model, rank, "memory", [](const RankResources& one) { return one.memory_records.has_value(); });
}

void check_hosts(const RunModel& model) {
  std::unordered_map<std::size_t, const RankResources*> firsts;
  for (std::size_t i = 0; i < model.ranks.size(); ++i) {
    const RankResources& rank = model.ranks[i];
    const RankResources& first = *firsts.emplace(rank.host, &rank).first->second;
    for (const RateField& field : kRateFields)
      if (rank.rates.*field.rate != first.rates.*field.rate)
        throw NodeError(i, fmt::format("nodes '{}' and '{}' are one host, but their rates '{}' differ", first.name,
                                       rank.name, field.name));
  }
}

}  // namespace

void validate(const RunModel& model) {
  if (model.ranks.empty()) throw PlanError("there is no node to plan for");
  if (model.record_bytes < 1)
    throw PlanError(fmt::format("the record size must be at least 1, not {}", model.record_bytes));
  check_seconds(model.start_seconds, all_nodes, "", "start");
  check_seconds(model.select_seconds, all_nodes, "", "select");
  check_seconds(model.publish_seconds, all_nodes, "", "publish");
  check_rate(model.shared.link, all_nodes, "", "link");
  check_rate(model.shared.disk_read, all_nodes, "", "disk read");
  check_rate(model.shared.disk_write, all_nodes, "", "disk write");
  for (std::size_t rank = 0; rank < model.ranks.size(); ++rank) {
    try {
      check_alone(model.ranks[rank]);
    } catch (const PlanError& error) {
      throw NodeError(rank, error.what());
    }
    check_like_first(model, rank);
  }
  check_hosts(model);
}

}  // namespace hetsort::partition
