// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/research/program_models.h"

#include <memory>
#include <utility>

#include "bench/research/mheta/program_problem.h"
#include "bench/research/mheta/program_text.h"
#include "bench/research/mheta/sort_program.h"
#include "job/shares/plan_input.h"

namespace hetsort::cli {
namespace {

partition::Problem problem_of_file(const std::string& path, const partition::Cluster& cluster,
                                   std::optional<std::int64_t> rows) {
  research::Program program = research::parse_program(job::read_text_file(path), path);
  if (rows) program.rows = *rows;
  auto model = std::make_shared<const research::ProgramModel>(research::program_model(std::move(program), cluster));
  return research::problem_of_program(model, model->program().rows);
}

std::shared_ptr<const partition::ProgramPredictor> sort_as_program(const partition::RunModel& model,
                                                                   std::int64_t records) {
  return std::make_shared<const research::ProgramOnNodes>(
      std::make_shared<const research::ProgramModel>(research::sort_program(model, records)));
}

}  // namespace

ProgramModels program_models() { return {.of_file = problem_of_file, .of_sort = sort_as_program}; }

}  // namespace hetsort::cli
