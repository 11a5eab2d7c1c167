// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans for any nodes, costs and numbers of records: each ends soon, and its shares sum to the records.
//
// The input is a list of numbers, taken from its front.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <ctime>
#include <numeric>

#include "partition/error.h"
#include "partition/learning.h"
#include "partition/plan.h"
#include "partition/scatter.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

#if !defined(__OPTIMIZE__) || defined(HETSORT_SANITIZE)
constexpr double kMaxPlanSeconds = 8;
#else
constexpr double kMaxPlanSeconds = 1;
#endif

/// Programs over all numbers of records take up to a second by design, which is too long for many inputs.
constexpr std::int64_t kMaxRecordsOfPrograms = 1000;

bool is_program(const partition::Strategy& strategy) {
  return strategy.name.find("dp") != std::string_view::npos || strategy.name == "scatter-exact";
}

/// Numbers from the front of an input; zeros at its end.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  unsigned byte() {
    if (at_ == size_) return 0;
    return data_[at_++];
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    const std::size_t bytes = std::min(sizeof value, size_ - at_);
    if (bytes > 0) std::memcpy(&value, data_ + at_, bytes);
    at_ += bytes;
    return value;
  }
  /// Of any magnitude from 1e-12 to 1e12, sometimes 0, sometimes any double.
  double real() {
    const unsigned form = byte();
    if (form == 255) return std::bit_cast<double>(word());
    if (form == 254) return 0;
    return (1 + static_cast<double>(byte()) / 64) * std::pow(10.0, static_cast<double>(form % 25) - 12);
  }
  /// Of any magnitude up to 2^62.
  std::int64_t whole() { return static_cast<std::int64_t>((word() >> 2U) >> (byte() % 62U)); }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

partition::CostPtr cost(Numbers& numbers) {
  switch (numbers.byte() % 7U) {
    case 0:
      return partition::linear_cost(numbers.real());
    case 1: {
      const double start = numbers.real();
      return partition::affine_cost({start, numbers.real()});
    }
    case 2: {
      const double coefficient = numbers.real();
      const double start = numbers.real();
      return partition::nlogn_cost({coefficient, start, numbers.real()});
    }
    case 3: {
      const double coefficient = numbers.real();
      return partition::power_cost(coefficient, numbers.real());
    }
    case 4: {
      std::vector<partition::CostPoint> points(1 + numbers.byte() % 6U);
      for (partition::CostPoint& point : points) point = {numbers.real(), numbers.real()};
      return partition::table_cost(std::move(points));
    }
    case 5: {
      std::vector<partition::CurvePoint> points(1 + numbers.byte() % 6U);
      for (partition::CurvePoint& point : points) point = {numbers.real(), numbers.real(), numbers.real(), 0};
      std::ranges::sort(points, {}, &partition::CurvePoint::records);
      return partition::fit_curve(
          points, numbers.byte() % 2U == 0 ? partition::CurveFit::kSmoothed : partition::CurveFit::kPaper2006);
    }
    default: {
      const double per_record = numbers.real();
      const double memory = numbers.real();
      return partition::step_cost({per_record, memory, numbers.real()});
    }
  }
}

partition::Problem problem(Numbers& numbers) {
  partition::Problem made;
  made.records = numbers.whole();
  const unsigned nodes = 1 + numbers.byte() % 8U;
  const bool scatter = numbers.byte() % 3U == 0;
  const unsigned speeds = numbers.byte() % 3U;
  for (unsigned i = 0; i < nodes; ++i) {
    partition::ProblemNode node;
    node.name = std::to_string(i);
    if (speeds == 0) node.speed = numbers.real();
    node.compute = cost(numbers);
    if (scatter) node.receive = cost(numbers);
    if (speeds == 1) node.measured = cost(numbers);
    const unsigned caps = numbers.byte();
    if (caps % 4U == 1) node.max_records = numbers.whole();
    if (caps % 8U == 3) node.min_records = numbers.whole();
    made.nodes.push_back(std::move(node));
  }
  if (numbers.byte() % 4U == 0) made.start_delay = numbers.real();
  if (scatter) return partition::arrange_scatter(std::move(made), nodes - 1, partition::SendingOrder::kGiven);
  return made;
}

void try_plan(const partition::Problem& problem, const partition::Strategy& strategy, double parameter) {
  const std::clock_t begin = std::clock();
  const partition::Plan plan =
      partition::make_plan(problem, partition::StrategyChoice{&strategy, parameter, std::string(strategy.name)});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (seconds > kMaxPlanSeconds) fail(std::string(strategy.name) + " takes " + std::to_string(seconds) + " s");
  std::int64_t left = problem.records;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const std::int64_t share = plan.nodes[i].records;
    if (share < 0 || share > left) fail(std::string(strategy.name) + ": a share is outside of what is left");
    if (share > problem.nodes[i].max_records || share < problem.nodes[i].min_records)
      fail(std::string(strategy.name) + ": a share is outside of its limits");
    left -= share;
  }
  if (left != 0) fail(std::string(strategy.name) + ": the shares do not sum to the records");
}

std::string seed(std::uint64_t number) {
  std::string text;
  for (int i = 0; i < 160; ++i) {
    number = number * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>(number >> 56U);
  }
  return text;
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < 64; ++i) all.push_back(seed(i));
  return all;
}

std::vector<std::string> words() { return {std::string(8, '\0'), std::string(8, '\xff'), seed(100), seed(101)}; }

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  fuzz::test::Numbers numbers(data, size);
  try {
    const partition::Problem problem = fuzz::test::problem(numbers);
    partition::validate(problem);
    const auto& all = partition::all_strategies();
    // A few strategies an input, so that many inputs are tried.
    for (int i = 0; i < 3; ++i) {
      const partition::Strategy& strategy = *all[numbers.byte() % all.size()];
      if (strategy.unsuitable != nullptr && !strategy.unsuitable(problem).empty()) continue;
      if (strategy.slow != nullptr && strategy.slow(problem)) continue;
      if (fuzz::test::is_program(strategy) && problem.records > fuzz::test::kMaxRecordsOfPrograms) continue;
      double parameter = strategy.default_parameter != nullptr ? strategy.default_parameter(problem) : 0;
      if (!strategy.parameter.empty() && numbers.byte() % 2U == 0) parameter = numbers.real();
      if (strategy.usual_parameter) parameter = std::min(parameter, 0.001);  // seconds of a search
      try {
        fuzz::test::try_plan(problem, strategy, parameter);
      } catch (const partition::PlanError&) {
      }
    }
  } catch (const partition::PlanError&) {
  }
  return 0;
}
