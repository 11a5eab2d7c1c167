// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats figures 6.5 to 6.7 of Nakazawa 2005 by simulation and prints them as Markdown: how far the plans of the
// searches are from the best one while time passes, and how long GBS and GS take for many nodes.
//
//   searches EXAMPLES     the folder with program-*.toml and mheta-*.toml
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/research/mheta/program_problem.h"
#include "bench/research/mheta/program_text.h"
#include "bench/research/search/strategies.h"
#include "partition/plan.h"

namespace hetsort::research::studies {
namespace {

using partition::Plan;
using partition::Problem;

constexpr std::array<const char*, 5> kClusters{"dc", "io", "hy1", "hy2", "hy3"};
constexpr std::array<const char*, 4> kPrograms{"jacobi", "cg", "lanczos", "rna"};
constexpr std::array<const char*, 4> kSearches{"gbs", "gs", "ga", "sa"};
constexpr int kSteps = 20;
constexpr double kStepSeconds = 0.05;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Problem problem_of(research::Program program, const partition::Cluster& cluster) {
  auto model = std::make_shared<const research::ProgramModel>(research::program_model(std::move(program), cluster));
  return research::problem_of_program(model, model->program().rows);
}

struct Case {
  std::string name;
  double best = research::kUnlimited;
  std::vector<Plan> plans;  ///< plans of the searches
};

/// Seconds of the best plan that a search had found by `time`.
double seconds_at(const Plan& plan, double time) {
  double seconds = plan.history.front().makespan;
  for (const partition::SearchStep& step : plan.history)
    if (step.seconds <= time) seconds = step.makespan;
  return seconds;
}

Case search_all(const std::string& name, const Problem& problem) {
  Case found{.name = name, .plans = {}};
  for (const char* search : kSearches) {
    found.plans.push_back(partition::make_plan(problem, search));
    found.best = std::min(found.best, found.plans.back().program->seconds);
  }
  found.best = std::min(found.best, partition::make_plan(problem, "threshold").program->seconds);
  for (int place = 0; place <= 32; ++place)
    found.best =
        std::min(found.best, partition::make_plan(problem, fmt::format("spectrum:{}", place / 8.0)).program->seconds);
  return found;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

std::vector<double> distances(const std::vector<Case>& cases, std::size_t search, double time) {
  std::vector<double> found;
  found.reserve(cases.size());
  for (const Case& one : cases) found.push_back(100 * (seconds_at(one.plans[search], time) / one.best - 1));
  return found;
}

void print_cases(const std::vector<Case>& cases) {
  fmt::print(
      "Distance of the plans after one second from the best known plan of the case, in per cent of its seconds.\n\n"
      "| program, cluster | best, s | gbs | gs | ga | sa |\n|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    fmt::print("| {} | {:.3f} |", cases[i].name, cases[i].best);
    for (std::size_t search = 0; search < kSearches.size(); ++search)
      fmt::print(" {:.2f} |", distances(cases, search, 1)[i]);
    fmt::print("\n");
  }
  fmt::print("| median | |");
  for (std::size_t search = 0; search < kSearches.size(); ++search)
    fmt::print(" {:.2f} |", median(distances(cases, search, 1)));
  fmt::print("\n\n");
}

void print_steps(const std::vector<Case>& cases) {
  fmt::print(
      "The median of these distances while time passes (figures 6.5 and 6.6).\n\n"
      "| ms | gbs | gs | ga | sa |\n|---|---|---|---|---|\n");
  for (int step = 1; step <= kSteps; ++step) {
    fmt::print("| {:.0f} |", 1e3 * step * kStepSeconds);
    for (std::size_t search = 0; search < kSearches.size(); ++search)
      fmt::print(" {:.2f} |", median(distances(cases, search, step * kStepSeconds)));
    fmt::print("\n");
  }
  fmt::print("\n");
}

/// A problem of `count` nodes, which repeat those of HY3, with rows in proportion.
Problem many_nodes(const std::string& examples, const std::string& name, std::size_t count) {
  const std::string path = examples + "/mheta-hy3.toml";
  partition::Cluster cluster = partition::parse_cluster(read_file(path), path);
  const std::vector<partition::ClusterNode> nodes = cluster.nodes;
  cluster.nodes.clear();
  for (std::size_t i = 0; i < count; ++i) {
    cluster.nodes.push_back(nodes[i % nodes.size()]);
    cluster.nodes.back().name = fmt::format("n{}", i);
  }
  const std::string program_path = fmt::format("{}/program-{}.toml", examples, name);
  research::Program program = research::parse_program(read_file(program_path), program_path);
  program.rows = program.rows * static_cast<std::int64_t>(count) / 8;
  return problem_of(std::move(program), cluster);
}

void print_sizes(const std::string& examples, const std::string& program) {
  fmt::print("| nodes, {} | gbs, ms | gs, ms | threshold, ms | gbs | gs |\n|---|---|---|---|---|---|\n", program);
  for (const std::size_t nodes : {16U, 32U, 64U, 128U, 1024U}) {
    const Problem problem = many_nodes(examples, program, nodes);
    std::vector<double> milliseconds;
    std::vector<double> makespans;
    for (const char* strategy : {"gbs:60", "gs:60", "threshold"}) {
      const auto begin = std::chrono::steady_clock::now();
      makespans.push_back(partition::make_plan(problem, strategy).makespan);
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.4f} | {:.4f} |\n", nodes, milliseconds[0], milliseconds[1],
               milliseconds[2], makespans[0] / makespans[2], makespans[1] / makespans[2]);
  }
  fmt::print("\n");
}

void run(const std::string& examples) {
  std::vector<Case> cases;
  for (const char* program : kPrograms)
    for (const char* cluster : kClusters) {
      const std::string program_path = fmt::format("{}/program-{}.toml", examples, program);
      const std::string cluster_path = fmt::format("{}/mheta-{}.toml", examples, cluster);
      cases.push_back(search_all(fmt::format("{}, {}", program, cluster),
                                 problem_of(research::parse_program(read_file(program_path), program_path),
                                            partition::parse_cluster(read_file(cluster_path), cluster_path))));
    }
  print_cases(cases);
  print_steps(cases);
  fmt::print(
      "The programs on the nodes of HY3 over and over, with rows in proportion to the nodes (figure 6.7, which has "
      "Jacobi\n"
      "and Lanczos): milliseconds to plan, and the latest finish without waiting over that of `threshold`, the exact "
      "method.\n\n");
  for (const char* program : kPrograms) print_sizes(examples, program);
}

}  // namespace
}  // namespace hetsort::research::studies

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: searches EXAMPLES\n");
    return 2;
  }
  try {
    hetsort::research::add_search_strategies();
    hetsort::research::studies::run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "searches: {}\n", error.what());
    return 2;
  }
  return 0;
}
