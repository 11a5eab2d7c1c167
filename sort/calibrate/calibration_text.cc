// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hetsort::sort {

namespace {

constexpr double kMega = 1e6;

/// A host name as a TOML string. A name needs escapes for no other characters.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char letter : name) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter;
  }
  return text + "\"";
}

/// A field with a rate; an empty text if the rate is 0.
std::string rate_text(const char* field, double bytes_per_second) {
  if (!(bytes_per_second > 0)) return "";
  return fmt::format("{} = \"{:.6f}MB/s\"\n", field, std::max(1e-6, bytes_per_second / kMega));
}

std::string heading(const Calibration& calibration, const CalibrationNote& note) {
  std::string text =
      fmt::format("# Measured by hetsort calibrate {} on {}: {} node{}, {}-byte records.\n#\n", note.version, note.date,
                  calibration.nodes.size(), calibration.nodes.size() == 1 ? "" : "s", note.record_bytes);
  text +=
      "# start: seconds that a job takes before its first sort, and that one longer than the next. Measured once.\n"
      "# select, publish: seconds around the exchange that no resource explains, and to sync the output.\n"
      "# compute: seconds of the processor to form runs of n records. merge: to merge a record.\n"
      "# message_in, message_out: bytes that the processor receives or sends in a second.\n"
      "# bandwidth: of the host's link in an exchange with all other hosts. links: from the node of the row to each, "
      "alone.\n"
      "# record_size, keys: of the records that were sorted. The costs of others differ.\n"
      "# root: the node that sends, if one does. receive, without links: seconds a record from it.\n"
      "# memory: what the system allows each rank.\n";
  if (calibration.checks.empty()) return text;
  text +=
      "#\n# Checked with sorts by all nodes: seconds without the start, as predicted with this file and as measured. "
      "The\n"
      "# exchange that is predicted for the other sorts follows from costs of messages and links that were fitted to "
      "them.\n"
      "#                                  form_runs            exchange          whole sort\n"
      "#   records  shares           predicted measured  predicted measured  predicted measured\n";
  for (const SortCheck& check : calibration.checks)
    text += fmt::format("# {:9}  {:16} {:9.3f} {:8.3f}  {:9.3f} {:8.3f}  {:9.3f} {:8.3f}\n", check.records,
                        check.shares, check.predicted_form, check.measured.form, check.predicted_exchange,
                        check.measured.exchange, check.predicted, check.measured.whole);
  return text;
}

/// Whether there are so few nodes that the file gets the matrix of rates between all of them.
bool has_matrix(const Calibration& calibration) {
  constexpr std::size_t kMaxNodes = 64;
  return calibration.nodes.size() > 1 && calibration.nodes.size() <= kMaxNodes;
}

std::string links_text(const Calibration& calibration) {
  if (!has_matrix(calibration)) return "";
  std::string text = "links = [\n";
  for (const NodeMeasurements& node : calibration.nodes) {
    text += "  [";
    for (const double rate : node.links)
      text += rate > 0 ? fmt::format("\"{:.3f}MB/s\", ", std::max(1e-3, rate / kMega)) : "\"\", ";
    text += "],\n";
  }
  return text + "]\n";
}

/// A comment on the links that were too fast to be measured.
std::string too_fast_text(const Calibration& calibration) {
  std::string text;
  for (const Flow& flow : calibration.too_fast)
    text += fmt::format("# The link from node {} to node {} was too fast to be measured: its rate is at least this.\n",
                        flow.from, flow.to);
  return text;
}

/// The records per second at which the largest measured runs were formed.
double form_rate(const NodeMeasurements& node) {
  return static_cast<double>(node.form.back().records) / node.form.back().seconds;
}

/// A node. Its speed is relative to the rate `slowest`.
std::string node_text(const Calibration& calibration, std::size_t rank, double slowest, const CalibrationNote& note) {
  const NodeMeasurements& node = calibration.nodes[rank];
  std::string text = fmt::format("\n[[node]]\nname = {}  # rank {}, {} thread{}\n", quoted(node.facts.host), rank,
                                 node.facts.threads, node.facts.threads == 1 ? "" : "s");
  text += fmt::format("speed = {:.4f}\ncompute = {{ kind = \"table\", points = [", form_rate(node) / slowest);
  for (const FormPoint& point : node.form) text += fmt::format("[{}, {:.6g}], ", point.records, point.seconds);
  text += fmt::format("] }}\nmerge = {{ kind = \"linear\", per_record = {:.4e} }}\n", node.merge_seconds);
  if (node.message.in > 0) text += rate_text("message_in", 1 / node.message.in);
  if (node.message.out > 0) text += rate_text("message_out", 1 / node.message.out);
  text += rate_text("bandwidth_in", node.link_in) + rate_text("bandwidth_out", node.link_out);
  if (rank == 0 && calibration.nodes.size() > 1) text += "root = true\n";
  if (!has_matrix(calibration)) {
    const double rate = calibration.nodes.front().links[rank];
    const double per_record = rate > 0 ? static_cast<double>(note.record_bytes) / rate : 0;
    text += fmt::format("receive = {{ kind = \"linear\", per_record = {:.4e} }}\n", per_record);
  }
  text += fmt::format("memory = \"{}MiB\"\n", std::max<std::uint64_t>(1, node.facts.memory_bytes >> 20));
  return text + rate_text("disk_read", node.disk.read_bytes_per_second) +
         rate_text("disk_write", node.disk.write_bytes_per_second);
}

}  // namespace

std::string cluster_text(const Calibration& calibration, const CalibrationNote& note) {
  std::string text = heading(calibration, note);
  text += fmt::format("\nstart = {:.4f}\nselect = {:.4f}\npublish = {:.4f}\n", calibration.start_seconds,
                      calibration.select_seconds, calibration.publish_seconds);
  text += fmt::format("record_size = {}\n", note.record_bytes);
  for (std::size_t i = 0; i < note.keys.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "keys = [" : ", ", quoted(note.keys[i]));
  if (!note.keys.empty()) text += "]\n";
  text += rate_text("shared_bandwidth", calibration.shared_link) + too_fast_text(calibration) + links_text(calibration);
  double slowest = std::numeric_limits<double>::infinity();
  for (const NodeMeasurements& node : calibration.nodes) slowest = std::min(slowest, form_rate(node));
  for (std::size_t rank = 0; rank < calibration.nodes.size(); ++rank)
    text += node_text(calibration, rank, slowest, note);
  return text;
}

}  // namespace hetsort::sort
