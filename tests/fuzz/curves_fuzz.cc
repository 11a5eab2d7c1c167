// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of --learn: what is read can be used and written again.
#include "partition/error.h"
#include "partition/learning.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

std::vector<std::string> seeds() {
  using partition::NodeCurve;
  return {partition::save_curves(std::vector<NodeCurve>{
              {"a", {{1000, 0.01, 3, 1e-8}, {2000, 0.021, 1, 0}, {1e6, 15, 64, 0.5}}}, {"b:1/2", {{5, 1e-9, 1, 0}}}}),
          partition::save_curves(std::vector<NodeCurve>{}),
          partition::save_curves(std::vector<NodeCurve>{{"a", {{1, 1, 1, 0}, {2, 0.5, 1, 0}, {3, 0.25, 1, 0}}}})};
}

std::vector<std::string> words() {
  return {"\"schema\"",
          "\"hetsort.curves/1\"",
          "\"nodes\"",
          "\"points\"",
          "\"records\"",
          "\"seconds\"",
          "\"count\"",
          "\"variance\"",
          "[",
          "]",
          "{",
          "}",
          ",",
          ":",
          "null",
          "true",
          "[[[[[[[[[[[[[[[[",
          "{\"a\":",
          "1e400",
          "\\u0000"};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  try {
    const std::vector<partition::NodeCurve> curves =
        partition::load_curves(fuzz::test::text_of(data, size), "fuzz.json");
    fuzz::test::require(partition::load_curves(partition::save_curves(curves), "again").size() == curves.size(),
                        "curves that are written cannot be read again");
    partition::CurveLearner learner(curves);
    partition::Problem problem;
    problem.records = 1'000'000;
    for (const partition::NodeCurve& curve : curves) {
      partition::ProblemNode& node = problem.nodes.emplace_back();
      node.speed = 1;
      node.name = curve.name;
    }
    learner.apply(problem);
    for (const partition::ProblemNode& node : problem.nodes)
      if (node.measured) fuzz::test::require(!(node.measured->value(1e6) < 0), "a curve below zero");
    if (!curves.empty()) static_cast<void>(learner.record(curves.front().name, 500, 0.5));
  } catch (const partition::PlanError&) {
  }
  return 0;
}
