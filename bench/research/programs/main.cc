// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// mpirun -n P iterate PROGRAM [OPTION...]: runs an iterative program and prints its seconds.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <sstream>

#include "bench/research/programs/measured.h"
#include "bench/research/programs/programs.h"
#include "comm/launcher.h"

namespace hetsort::research::programs {
namespace {

namespace po = boost::program_options;

constexpr double kTolerance = 1e-8;

po::options_description options() {
  po::options_description all("usage: mpirun -n P iterate jacobi|cg|lanczos|rna [OPTION...]");
  auto add = all.add_options();
  add("program", po::value<std::string>(), "the program");
  add("rows", po::value<std::int64_t>()->default_value(1024), "rows of its arrays");
  add("iterations", po::value<std::int64_t>(), "by default those of the thesis");
  add("shares", po::value<std::string>(), "rows of each rank, as in 10,20; by default equal blocks");
  add("memory", po::value<std::string>(),
      "bytes of each rank for arrays; a single number for all; by default unlimited");
  add("disk", po::value<std::string>(), "bytes a second of each rank's disk, which is emulated by waiting");
  add("processor", po::value<std::string>(),
      "elements a second that each rank's processor computes, which is emulated by waiting");
  add("folder", po::value<std::string>()->default_value("/tmp"), "where arrays go that memory does not hold");
  add("prefetch", po::bool_switch(), "read the next block while one is computed");
  add("check", po::bool_switch(), "iterate until the problem is solved, and compare with the direct solution");
  add("measure", po::value<std::string>(),
      "PREFIX: run instrumented iterations with equal blocks and write "
      "PREFIX-program.toml and PREFIX-cluster.toml");
  add("help,h", po::bool_switch(), "this text");
  return all;
}

template <typename Value>
std::vector<Value> numbers(const std::string& text, std::size_t ranks, const char* option) {
  std::vector<Value> values;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::size_t used = 0;
    const std::string word = text.substr(begin, end - begin);
    try {
      values.push_back(static_cast<Value>(std::stod(word, &used)));
    } catch (const std::logic_error&) {
      values.push_back(-1);
    }
    if (used != word.size() || !(values.back() >= 0))
      throw std::runtime_error(fmt::format("--{} '{}': '{}' is no number of at least 0", option, text, word));
    begin = end + 1;
  }
  if (values.size() == 1) values.assign(ranks, values.front());
  if (values.size() != ranks)
    throw std::runtime_error(fmt::format("--{} has {} numbers for {} ranks", option, values.size(), ranks));
  return values;
}

std::vector<std::int64_t> equal_blocks(std::int64_t rows, std::size_t ranks) {
  std::vector<std::int64_t> blocks;
  const auto count = static_cast<std::int64_t>(ranks);
  for (std::int64_t rank = 0; rank < count; ++rank) blocks.push_back(rows / count + (rank < rows % count ? 1 : 0));
  return blocks;
}

const IterativeProgram& program_named(const std::string& name) {
  for (const IterativeProgram* one : {&kJacobi, &kCg, &kLanczos, &kRna})
    if (one->name == name) return *one;
  throw std::runtime_error(fmt::format("unknown program '{}'; known: jacobi, cg, lanczos, rna", name));
}

RunSettings settings_of(const po::variables_map& values, std::size_t ranks) {
  RunSettings settings;
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  const auto rows = values["rows"].as<std::int64_t>();
  settings.instrumented = values.count("measure") != 0;
  const bool blocks = settings.instrumented || values.count("shares") == 0;
  settings.rows = blocks ? equal_blocks(rows, ranks) : numbers<std::int64_t>(text("shares"), ranks, "shares");
  if (rows < 1 || std::accumulate(settings.rows.begin(), settings.rows.end(), std::int64_t{0}) != rows)
    throw std::runtime_error(fmt::format("the shares do not sum up to {} rows, or there is no row", rows));
  if (values.count("memory") != 0) settings.memory_bytes = numbers<double>(text("memory"), ranks, "memory");
  if (values.count("disk") != 0) settings.disk_bytes_per_second = numbers<double>(text("disk"), ranks, "disk");
  if (values.count("processor") != 0)
    settings.elements_per_second = numbers<double>(text("processor"), ranks, "processor");
  if (std::ranges::find(settings.elements_per_second, 0.0) != settings.elements_per_second.end())
    throw std::runtime_error(fmt::format("--processor '{}': no processor computes 0 elements", text("processor")));
  settings.folder = text("folder");
  return settings;
}

/// Seconds of the slowest rank. Collective.
double seconds_of(comm::Communicator& ranks, Iteration& iteration, std::int64_t count) {
  ranks.barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) iteration.iterate();
  const auto took = std::chrono::steady_clock::now() - begin;
  return 1e-9 * static_cast<double>(ranks.all_reduce_max(
                    static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count())));
}

void run(const po::variables_map& values, comm::Communicator& ranks) {
  const IterativeProgram& program = program_named(values["program"].as<std::string>());
  const RunSettings settings = settings_of(values, static_cast<std::size_t>(ranks.size()));
  Node node(ranks, settings, program.structure(values["rows"].as<std::int64_t>(), values["prefetch"].as<bool>()));
  const std::unique_ptr<Iteration> iteration = program.begin(node);
  const bool check = values["check"].as<bool>();
  std::int64_t count = check ? program.check_iterations : program.iterations;
  if (values.count("iterations") != 0) count = values["iterations"].as<std::int64_t>();
  if (settings.instrumented) {
    constexpr int kTimes = 5;
    node.measure_costs(kTimes, [&] { iteration->iterate(); });
    write_measured(node, {values["measure"].as<std::string>(), count, settings.memory_bytes});
    return;
  }
  if (!check) iteration->iterate();  // The first one takes memory and fills caches.
  const double seconds = seconds_of(ranks, *iteration, count);
  const double difference = check ? iteration->difference() : 0.0;
  if (!(difference <= kTolerance))
    throw std::runtime_error(fmt::format("differs from the direct solution by {}", difference));
  if (ranks.rank() == 0) fmt::print("{{\"seconds\":{:.6f},\"iterations\":{}}}\n", seconds, count);
}

int main_of_rank(int argc, char** argv) {
  po::variables_map values;
  const auto all = options();
  po::positional_options_description place;
  place.add("program", 1);
  try {
    po::store(po::command_line_parser(argc, argv).options(all).positional(place).run(), values);
  } catch (const po::error& error) {
    fmt::print(stderr, "iterate: {}\n", error.what());
    return 2;
  }
  if (values["help"].as<bool>() || values.count("program") == 0) {
    std::ostringstream text;
    text << all;
    fmt::print("{}", text.str());
    return values["help"].as<bool>() ? 0 : 2;
  }
  comm::CommunicatorOptions inline_mode;
  inline_mode.mode = comm::ExchangeMode::kInline;
  const auto ranks = comm::make_communicator(comm::MpiUse::kAuto, inline_mode);
  try {
    run(values, *ranks);
  } catch (const comm::PeerFailed&) {
  } catch (const std::exception& error) {
    ranks->fail(error.what());
  }
  const std::string failure = ranks->conclude();
  if (!failure.empty() && ranks->rank() == 0) fmt::print(stderr, "iterate: {}\n", failure);
  return failure.empty() ? 0 : 2;
}

}  // namespace
}  // namespace hetsort::research::programs

int main(int argc, char** argv) { return hetsort::research::programs::main_of_rank(argc, argv); }
