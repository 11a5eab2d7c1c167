// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/mheta/sort_program.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bench/research/mheta/predict_program.h"
#include "partition/run/predict_run.h"
#include "tests/partition/problems.h"
#include "tests/partition/run/run_models.h"

namespace hetsort::research::test {
namespace {

TEST(SortProgram, agrees_with_the_model_of_a_whole_run) {
  partition::test::Seeded random(partition::test::test_seed());
  for (int round = 0; round < 3000; ++round) {
    partition::RunModel model =
        partition::test::random_model(random.engine, {.max_hosts = 4, .max_ranks_of_host = 3, .shared = true});
    model.start_seconds = 0.5;
    model.select_seconds = 0.25;
    model.publish_seconds = 2;
    const auto records = std::uniform_int_distribution<std::int64_t>(1, 30)(random.engine);
    const auto input = partition::test::random_division(random.engine, model.ranks.size(), records);
    const auto output = partition::test::random_division(random.engine, model.ranks.size(), records);
    const partition::RunPrediction run = partition::predict_run(model, input, output);
    const partition::ProgramPrediction program = predict_program(sort_program(model, records), input, output);
    ASSERT_NEAR(program.seconds, run.seconds, 1e-9 * run.seconds) << random.note << " round " << round;
    for (std::size_t i = 0; i < input.size(); ++i) {
      const double idle = run.form_seconds - run.form[i].seconds + run.exchange_seconds - run.exchange[i].seconds;
      if (input[i] + output[i] == 0) continue;
      ASSERT_NEAR(program.nodes[i].seconds() + 0.5, run.seconds, 1e-9 * run.seconds) << random.note << " rank " << i;
      ASSERT_LE(program.nodes[i].computing + program.nodes[i].reading + program.nodes[i].writing,
                run.seconds - idle + 1e-9);
    }
  }
}

}  // namespace
}  // namespace hetsort::research::test
