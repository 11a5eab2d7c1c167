// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/calibrate/fit_exchange.h"

#include <gtest/gtest.h>

#include "partition/run/predict_run.h"
#include "tests/sort/calibrate/calibrate_world.h"

namespace hetsort::sort::test {
namespace {

using Amounts = std::vector<std::int64_t>;

/// An exchange of the model with these message costs.
MeasuredExchange exchange_of(partition::RunModel model, const FittedCosts& truth, const Amounts& input,
                             const Amounts& output) {
  use_fit(model, truth);
  const double seconds = partition::predict_run(model, input, output).exchange_seconds;
  return {input, output, seconds + truth.unexplained_seconds, {}};
}

std::vector<MeasuredExchange> exchanges_of(const partition::RunModel& model, const FittedCosts& truth) {
  return {exchange_of(model, truth, {400'000, 400'000}, {400'000, 400'000}),
          exchange_of(model, truth, {400'000, 400'000}, {600'000, 200'000}),
          exchange_of(model, truth, {200'000, 200'000}, {200'000, 200'000}),
          exchange_of(model, truth, {300'000, 100'000}, {200'000, 200'000})};
}

TEST(FitExchange, both_directions_and_the_unexplained_seconds_are_found) {
  const partition::RunModel model = world_of({1e6, 1e6}).model;
  const FittedCosts truth{.in = 0.004, .out = 0.007, .unexplained_seconds = 0.05};
  const FittedCosts fit = fit_exchange(model, exchanges_of(model, truth));
  EXPECT_NEAR(fit.in, truth.in, 0.05 * truth.in);
  EXPECT_NEAR(fit.out, truth.out, 0.05 * truth.out);
  EXPECT_NEAR(fit.unexplained_seconds, truth.unexplained_seconds, 0.05 * truth.unexplained_seconds);
}

TEST(FitExchange, one_disturbed_sort_does_not_decide) {
  const partition::RunModel model = world_of({1e6, 1e6}).model;
  const FittedCosts truth{.in = 0.004, .out = 0.007, .unexplained_seconds = 0};
  std::vector<MeasuredExchange> exchanges = exchanges_of(model, truth);
  exchanges.push_back(exchanges.front());
  exchanges.push_back(exchanges.front());
  exchanges.back().seconds *= 3;
  const FittedCosts fit = fit_exchange(model, exchanges);
  EXPECT_NEAR(fit.in + fit.out, truth.in + truth.out, 0.2 * (truth.in + truth.out));
}

TEST(FitExchange, links_that_are_slower_in_an_exchange_are_found) {
  partition::RunModel model = world_of({2e6, 2e6}).model;
  for (partition::RankResources& rank : model.ranks) rank.rates.link_in = rank.rates.link_out = 30e6;
  const FittedCosts truth{.in = 0, .out = 0, .unexplained_seconds = 0.05, .links = 1.4};
  const FittedCosts fit = fit_exchange(model, exchanges_of(model, truth));
  EXPECT_NEAR(fit.links, truth.links, 0.01);
  EXPECT_NEAR(fit.unexplained_seconds, truth.unexplained_seconds, 0.05 * truth.unexplained_seconds);
}

TEST(FitExchange, costs_that_explain_nothing_are_zero) {
  const partition::RunModel model = world_of({1e6, 1e6}).model;
  const FittedCosts fit = fit_exchange(model, exchanges_of(model, {}));
  EXPECT_EQ(fit.in, 0);
  EXPECT_EQ(fit.out, 0);
  EXPECT_EQ(fit.unexplained_seconds, 0);
  EXPECT_EQ(fit.links, 1);
  EXPECT_EQ(fit_exchange(model, {}).in, 0);
}

}  // namespace
}  // namespace hetsort::sort::test
