// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/learning/learned_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "partition/error.h"

namespace hetsort::partition {
namespace {

// A run that differs by more says little about the next one.
constexpr double kMaxRatio = 32;
constexpr double kMaxFactor = 1e4;

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The place behind "KEY =" in a line; npos if it has another key.
std::size_t value_of(const std::string& line, std::string_view key) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == line.npos || line.compare(begin, key.size(), key) != 0) return line.npos;
  const std::size_t equals = line.find_first_not_of(kBlanks, begin + key.size());
  if (equals == line.npos || line[equals] != '=') return line.npos;
  return std::min(line.find_first_not_of(kBlanks, equals + 1), line.size());
}

struct NewValue {
  std::string_view key;
  std::string value;
  bool is_table = false;  ///< the old and the new value end with a brace
};
/// Sets a value among the lines from `first` to `end`: in its line, where what stands behind the value stays, or in a
/// new line at `place`.
void set_value(std::vector<std::string>& lines, std::size_t first, std::size_t end, std::size_t place,
               const NewValue& set) {
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t begin = value_of(lines[i], set.key);
    if (begin == std::string::npos) continue;
    const std::size_t after = set.is_table ? lines[i].find('}', begin) : lines[i].find_first_of(" \t#\r", begin);
    const std::size_t rest = after == std::string::npos ? lines[i].size() : after + (set.is_table ? 1 : 0);
    lines[i].replace(begin, rest - begin, set.value);
    return;
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(place), fmt::format("{} = {}", set.key, set.value));
}

/// The mean of the logarithms of some ratios.
class MeanRatio {
 public:
  void add(double ratio) {
    sum_ += std::log(std::clamp(ratio, 1 / kMaxRatio, kMaxRatio));
    ++count_;
  }
  bool is_empty() const { return count_ == 0; }
  double moved(double factor) const {
    if (is_empty()) return factor;
    return std::clamp(factor * std::exp(kLearnedPart * sum_ / count_), 1 / kMaxFactor, kMaxFactor);
  }

 private:
  double sum_ = 0;
  double count_ = 0;
};

/// The ratios that a host shows.
struct HostRatios {
  std::size_t ranks = 0;
  MeanRatio form;
  MeanRatio exchange;
  MeanRatio link;
  MeanRatio disk;

  void add(const ObservedRank& rank) {
    ++ranks;
    add(rank.form, form);
    add(rank.exchange, exchange);
  }
  LearnedFactors moved(const LearnedFactors& known) const {
    return {form.moved(known.form), exchange.moved(known.exchange), link.moved(known.link), disk.moved(known.disk)};
  }

 private:
  void add(const std::optional<ObservedPhase>& phase, MeanRatio& of_processor) {
    if (!phase || !(phase->ratio > 0) || !std::isfinite(phase->ratio)) return;
    switch (phase->bound) {
      case Resource::kProcessor:
        return of_processor.add(phase->ratio);
      case Resource::kLinkIn:
      case Resource::kLinkOut:
        return link.add(phase->ratio);
      case Resource::kDisk:
      case Resource::kMemory:
        return disk.add(phase->ratio);
      case Resource::kNone:
      case Resource::kSharedLink:
      case Resource::kSharedDisk:
        return;
    }
  }
};

/// Gives a node that had no work yet the mean of what the other nodes of the run have shown. Errors of the model are
/// the same on all nodes. Without this, the next plan would prefer nodes whose errors have not been measured.
void adopt(double& factor, const MeanRatio& own, const MeanRatio& shown) {
  if (factor == 1 && own.is_empty()) factor = shown.moved(factor);
}

/// The new factors of the nodes at each line of the file.
std::map<std::size_t, LearnedFactors> factors_by_line(const Cluster& cluster, const ObservedRun& run) {
  HostRatios all;
  for (const ObservedRank& rank : run.ranks) all.add(rank);
  std::map<std::size_t, LearnedFactors> factors;
  for (const ClusterNode& node : cluster.nodes) {
    if (factors.contains(node.line)) continue;
    HostRatios ratios;
    for (const ObservedRank& rank : run.ranks) {
      const ClusterNode& other = cluster.nodes.at(rank.node);
      if (other.line == node.line || other.name == node.name) ratios.add(rank);
    }
    LearnedFactors& found = factors[node.line] = ratios.moved(node.learned);
    if (ratios.ranks == 0) continue;
    adopt(found.form, ratios.form, all.form);
    adopt(found.exchange, ratios.exchange, all.exchange);
  }
  return factors;
}

std::string text_of(const LearnedFactors& factors) {
  return fmt::format("{{ form = {:.4f}, exchange = {:.4f}, link = {:.4f}, disk = {:.4f} }}", factors.form,
                     factors.exchange, factors.link, factors.disk);
}

}  // namespace

std::string with_observed_run(std::string_view text, std::string_view source_name, const ObservedRun& run) {
  const Cluster cluster = parse_cluster(text, source_name);
  std::vector<std::string> lines = lines_of(text);
  std::size_t end = lines.size();
  const std::map<std::size_t, LearnedFactors> factors = factors_by_line(cluster, run);
  for (auto node = factors.rbegin(); node != factors.rend(); ++node) {
    const std::size_t header = node->first - 1;
    if (lines.at(header).find("[[") == std::string::npos)
      throw PlanError(
          fmt::format("{}:{}: cannot learn: the node does not begin with [[node]]", source_name, node->first));
    set_value(lines, header + 1, end, header + 1, {"learned", text_of(node->second), true});
    end = header;
  }
  const auto set_seconds = [&](std::string_view key, double known, const std::optional<double>& measured) {
    if (!measured) return;
    const std::size_t before = lines.size();
    set_value(lines, 0, end, end, {key, fmt::format("{:.4f}", std::lerp(known, *measured, kLearnedPart))});
    end += lines.size() - before;
  };
  set_seconds("start", cluster.start_seconds, run.start);
  set_seconds("select", cluster.select_seconds, run.select);
  set_seconds("publish", cluster.publish_seconds, run.publish);
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  static_cast<void>(parse_cluster(result, source_name));
  return result;
}

}  // namespace hetsort::partition
