// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace hetsort::sort {

namespace {

constexpr double kMega = 1e6;

/// A host name as a TOML string. Host names need no other escapes.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char letter : name) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return text + "\"";
}

std::string figures(const MeasuredPoint& point) {
  return fmt::format("{} sorts, +-{:.1f} %{}{}", point.repetitions, 100 * point.spread,
                     point.converged ? "" : " NOT STEADY",
                     point.outliers == 0 ? "" : fmt::format(", {} more disturbed", point.outliers));
}

std::string heading(const Calibration& calibration, const CalibrationNote& note) {
  std::string text =
      fmt::format("# Measured by hetsort calibrate {} on {}: {} node{}, {}-byte records.\n#\n", note.version, note.date,
                  calibration.nodes.size(), calibration.nodes.size() == 1 ? "" : "s", note.record_bytes);
  text +=
      "# start: seconds that a job takes before its first sort, and that one longer than the next. Measured once.\n"
      "# compute: seconds more that a sort by all these nodes together takes when this node has n records and the "
      "others\n"
      "# have shares that suit them; up to the published output, sending and receiving included. +- is the 95 % "
      "interval\n"
      "# of the mean; below the first and beyond the last size measured: a straight line.\n"
      "# Disturbed: the host of a virtual machine kept its processors; such sorts do not count.\n"
      "# receive: seconds a record from the first node. memory: what the system allows each rank.\n";
  const std::size_t ranks = calibration.nodes.size();
  constexpr std::size_t kMaxInTable = 8;
  if (ranks < 2 || ranks > kMaxInTable) return text;
  text += "#\n# Links, MB/s (latency in us), from the node of the line to nodes in order:\n";
  for (const std::vector<LinkRates>& from : calibration.links) {
    text += "#";
    for (const LinkRates& link : from)
      text += link.bytes_per_second > 0
                  ? fmt::format(" {:>7.0f} ({:.0f})", link.bytes_per_second / kMega, link.latency_seconds * kMega)
                  : fmt::format(" {:>7}", "-");
    text += "\n";
  }
  return text;
}

/// The speed relative to the slowest node, by the largest sort together. Empty if a node got no records.
std::string speed_text(const Calibration& calibration, std::size_t rank) {
  if (calibration.together.empty()) return "";
  const std::vector<std::uint64_t>& shares = calibration.together.back().shares;
  const std::uint64_t least = *std::min_element(shares.begin(), shares.end());
  if (least == 0) return "";
  return fmt::format("speed = {:.4f}\n", static_cast<double>(shares[rank]) / static_cast<double>(least));
}

std::string node_text(const Calibration& calibration, std::size_t rank, const NodeFacts& facts,
                      const CalibrationNote& note) {
  const NodeMeasurements& node = calibration.nodes[rank];
  std::string text = fmt::format("\n[[node]]\nname = {}  # rank {}, {} thread{}\n", quoted(facts.host), rank,
                                 facts.threads, facts.threads == 1 ? "" : "s");
  text += speed_text(calibration, rank);
  text += "compute = { kind = \"table\", points = [\n";
  for (const NodePoint& point : node_curve(calibration, rank)) {
    text += fmt::format("  [{}, {:.6g}],", point.records, point.seconds);
    if (point.measured == nullptr) text += "  # a straight line\n";
    if (point.measured != nullptr)
      text += fmt::format("  # {} in all; {}\n", point.measured->records, figures(*point.measured));
  }
  text += "] }\n";
  const double rate = node.from_root.bytes_per_second;
  const double per_record = rate > 0 ? static_cast<double>(note.record_bytes) / rate : 0;
  text += fmt::format("receive = {{ kind = \"linear\", per_record = {:.4e} }}\n", per_record);
  text += fmt::format("memory = \"{}MiB\"\n", std::max<std::uint64_t>(1, facts.memory_bytes >> 20));
  text += fmt::format("disk_read = \"{:.3f}MB/s\"\n", node.disk.read_bytes_per_second / kMega);
  text += fmt::format("disk_write = \"{:.3f}MB/s\"\n", node.disk.write_bytes_per_second / kMega);
  for (const MeasuredPoint& point : node.alone)
    text += fmt::format("# alone: {} records in {:.6g} s; {}\n", point.records, point.seconds, figures(point));
  return text;
}

}  // namespace

std::string cluster_text(const Calibration& calibration, const std::vector<NodeFacts>& facts,
                         const CalibrationNote& note) {
  std::string text = heading(calibration, note);
  text += fmt::format("\nstart = {:.4f}\n", calibration.start_seconds);
  for (std::size_t rank = 0; rank < calibration.nodes.size(); ++rank)
    text += node_text(calibration, rank, facts[rank], note);
  return text;
}

std::string unsteady_text(const Calibration& calibration) {
  std::size_t measured = 0;
  std::size_t unconverged = 0;
  double most = 0;
  const auto look = [&](const MeasuredPoint& point) {
    ++measured;
    if (point.converged) return;
    ++unconverged;
    most = std::max(most, point.spread);
  };
  for (const TogetherPoint& point : calibration.together) look(point.whole);
  for (const NodeMeasurements& node : calibration.nodes)
    for (const MeasuredPoint& point : node.alone) look(point);
  if (unconverged == 0) return "";
  return fmt::format("{} of {} times did not get steady, the worst within +-{:.1f} %: plans from them are as uncertain",
                     unconverged, measured, 100 * most);
}

}  // namespace hetsort::sort
