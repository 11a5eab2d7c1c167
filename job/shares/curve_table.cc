// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/curve_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "io/error.h"
#include "job/shares/plan_input.h"
#include "sort/model/measured_shares.h"

namespace hetsort::job {

namespace {

std::string read_or_nothing(const std::string& path) {
  try {
    return read_text_file(path);
  } catch (const io::Error& error) {
    if (error.error_number() == ENOENT) return partition::save_curves({});
    throw;
  }
}

/// Reads the curves on rank 0 and returns them on all ranks.
partition::CurveLearner read_curves(const std::string& path, comm::Communicator& ranks) {
  const auto read = [&path] {
    std::string text = read_or_nothing(path);
    static_cast<void>(partition::load_curves(text, path));
    return text;
  };
  return partition::CurveLearner(partition::load_curves(read_on_root(read, ranks), path));
}

std::vector<std::string> names_of_ranks(const comm::Communicator& ranks) {
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(ranks.size()));
  for (int rank = 0; rank < ranks.size(); ++rank) hosts.push_back(ranks.host(rank));
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (auto host = hosts.begin(); host != hosts.end(); ++host) {
    const auto of_host = std::count(hosts.begin(), hosts.end(), *host);
    names.push_back(of_host == 1 ? *host
                                 : fmt::format("{}:{}/{}", *host, std::count(hosts.begin(), host + 1, *host), of_host));
  }
  return names;
}

}  // namespace

bool learns_cluster(const std::string& path, comm::Communicator& ranks) {
  const auto is_cluster = [&path]() -> std::string {
    const std::string text = read_or_nothing(path);
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != text.npos && text[begin] != '{' && text.find("[[node]]") != text.npos ? "yes" : "no";
  };
  return read_on_root(is_cluster, ranks) == "yes";
}

CurveTable::CurveTable(const std::string& path, comm::Communicator& ranks)
    : path_(path), learner_(read_curves(path, ranks)), names_(names_of_ranks(ranks)) {}

std::string CurveTable::unknown() const {
  const std::vector<partition::NodeCurve>& curves = learner_.curves();
  for (const std::string& name : names_) {
    const auto has_points = [&](const partition::NodeCurve& curve) {
      return curve.name == name && !curve.points.empty();
    };
    if (std::none_of(curves.begin(), curves.end(), has_points)) return name;
  }
  return {};
}

std::vector<std::string> CurveTable::learn(const std::vector<sort::Work>& work) {
  std::vector<std::string> notes;
  try {
    // Read the file again: other sorts may have written it since this one began.
    learner_ = partition::CurveLearner(partition::load_curves(read_or_nothing(path_), path_));
  } catch (const std::exception& error) {
    notes.push_back(fmt::format("what other sorts have meanwhile learned is not kept: {}", error.what()));
  }
  if (std::none_of(work.begin(), work.end(), sort::is_measured))
    notes.push_back(fmt::format("{} learned nothing: no rank worked long enough for a rate", path_));
  for (std::size_t rank = 0; rank < work.size(); ++rank) {
    if (!sort::is_measured(work[rank])) continue;
    const double seconds = work[rank].seconds;
    const partition::CurveLearner::Outcome outcome =
        learner_.record(names_[rank], static_cast<double>(work[rank].records), seconds);
    if (outcome.drifted)
      notes.push_back(
          fmt::format("{} took {:.3g} s for {} records where {} predicts {:.3g}: its earlier points count "
                      "little from now on",
                      names_[rank], seconds, work[rank].records, path_, outcome.expected_seconds));
  }
  return notes;
}

}  // namespace hetsort::job
