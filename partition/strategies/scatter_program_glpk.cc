// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The linear program, with GLPK. Variables: x_i = n_i / N, the sending time s_i up to node i, and T; one row for each
// s_i and one for each T >= s_i + compute_i, so that the matrix holds O(p) numbers. Times are scaled by the time the
// program would take if every node had an equal share, which keeps all numbers near one.
#include <fmt/format.h>
#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "partition/error.h"
#include "partition/strategies/scatter_program.h"

namespace hetsort::partition {
namespace {

constexpr int kMaxIterationsPerNode = 1000;  // two rows a node take a few iterations each; more is a cycle

using Model = std::unique_ptr<glp_prob, decltype(&glp_delete_prob)>;

struct Entry {
  int column;
  double value;
};

[[noreturn]] void fail_overflow() {
  throw PlanError("strategy 'scatter-lp': the costs of these records do not fit a double");
}

/// A number of the program, all of which are times in parts of the scale. Throws: PlanError unless it is finite.
/// GLPK ends the process on infinities, and on numbers so small that their scale factor becomes 0: those count as 0.
double checked(double value) {
  constexpr double kNegligible = 1e-30;
  if (!std::isfinite(value)) fail_overflow();
  return std::abs(value) < kNegligible ? 0.0 : value;
}

void set_row(glp_prob* model, int row, std::initializer_list<Entry> entries) {
  std::vector<int> columns{0};  // GLPK counts from 1
  std::vector<double> values{0};
  for (const Entry& entry : entries) {
    columns.push_back(entry.column);
    values.push_back(checked(entry.value));
  }
  glp_set_mat_row(model, row, static_cast<int>(entries.size()), columns.data(), values.data());
}

AffineForm receive_line(const ProblemNode& node) { return node.receive ? *node.receive->affine() : AffineForm{}; }

/// The unit of time in the program: the time for equal shares, all start-ups counted.
double time_scale(const Problem& problem) {
  const double each = static_cast<double>(problem.records) / static_cast<double>(problem.nodes.size());
  double sent = 0;
  double longest = 0;
  for (const ProblemNode& node : problem.nodes) {
    const AffineForm receive = receive_line(node);
    const AffineForm compute = *node.compute->affine();
    sent += receive.start + receive.per_record * each;
    longest = std::max(longest, sent + compute.start + compute.per_record * each);
  }
  if (!std::isfinite(longest)) fail_overflow();
  return longest > 0 ? longest : 1.0;
}

void build(glp_prob* model, const Problem& problem) {
  const auto count = static_cast<int>(problem.nodes.size());
  const auto records = static_cast<double>(problem.records);
  const double unit = time_scale(problem);
  const int total = 2 * count + 1;  // the column of T
  glp_set_obj_dir(model, GLP_MIN);
  glp_add_cols(model, total);
  glp_add_rows(model, total);
  glp_set_obj_coef(model, total, 1);
  glp_set_col_bnds(model, total, GLP_LO, 0, 0);
  std::vector<int> columns(problem.nodes.size() + 1);
  std::vector<double> ones(problem.nodes.size() + 1, 1.0);
  for (int i = 1; i <= count; ++i) {
    const ProblemNode& node = problem.nodes[static_cast<std::size_t>(i - 1)];
    const AffineForm receive = receive_line(node);
    const AffineForm compute = *node.compute->affine();
    const double cap = std::min(1.0, static_cast<double>(node.max_records) / records);
    glp_set_col_bnds(model, i, cap > 0 ? GLP_DB : GLP_FX, 0, cap);
    glp_set_col_bnds(model, count + i, GLP_LO, 0, 0);
    const double per_share = records / unit;
    // s_i - s_{i-1} - lambda_i x_i = start-up of the message
    if (i == 1)
      set_row(model, i, {{count + i, 1}, {i, -receive.per_record * per_share}});
    else
      set_row(model, i, {{count + i, 1}, {count + i - 1, -1}, {i, -receive.per_record * per_share}});
    const double message_start = checked(receive.start / unit);
    glp_set_row_bnds(model, i, GLP_FX, message_start, message_start);
    // T - s_i - mu_i x_i >= start-up of the work
    set_row(model, count + i, {{total, 1}, {count + i, -1}, {i, -compute.per_record * per_share}});
    glp_set_row_bnds(model, count + i, GLP_LO, checked(compute.start / unit), 0);
    columns[static_cast<std::size_t>(i)] = i;
  }
  glp_set_mat_row(model, total, count, columns.data(), ones.data());
  glp_set_row_bnds(model, total, GLP_FX, 1, 1);
}

}  // namespace

bool has_scatter_program() { return true; }

std::vector<double> solve_scatter_program(const Problem& problem) {
  const Model model(glp_create_prob(), &glp_delete_prob);
  build(model.get(), problem);
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.presolve = GLP_ON;
  options.it_lim = kMaxIterationsPerNode * static_cast<int>(problem.nodes.size());
  options.tol_bnd = 1e-11;
  options.tol_dj = 1e-11;
  const int failure = glp_simplex(model.get(), &options);
  if (failure != 0 || glp_get_status(model.get()) != GLP_OPT)
    throw PlanError(fmt::format("strategy 'scatter-lp': the linear program was not solved (GLPK code {})",
                                failure != 0 ? failure : glp_get_status(model.get())));
  std::vector<double> shares;
  const auto records = static_cast<double>(problem.records);
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const double share = glp_get_col_prim(model.get(), static_cast<int>(i + 1));
    shares.push_back(std::clamp(share, 0.0, 1.0) * records);
  }
  return shares;
}

}  // namespace hetsort::partition
