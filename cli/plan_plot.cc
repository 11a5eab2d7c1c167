// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures by gnuplot, run without a shell: a temporary file is its standard input, the picture its standard output.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "cli/options.h"
#include "cli/plan_output.h"

extern char** environ;

namespace hetsort::cli {
namespace {

/// In single quotes for gnuplot, which doubles those inside.
std::string gnuplot_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

/// A name as a field of a data block: no quotes, no escapes.
std::string data_field(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return field + "\"";
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Runs gnuplot with `input` and `output` as its standard streams; its complaints are dropped. Returns its exit status.
int run_gnuplot(std::FILE* input, std::FILE* output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char name[] = "gnuplot";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT) throw UsageError("--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
  if (failure != 0) throw std::system_error(failure, std::generic_category(), "--plot: gnuplot");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void draw(const std::string& path, const std::string& script) {
  if (!path.ends_with(".svg")) throw UsageError(fmt::format("--plot '{}': the file's name must end in .svg", path));
  const File input(std::tmpfile(), &std::fclose);
  if (!input || std::fwrite(script.data(), 1, script.size(), input.get()) != script.size() ||
      std::fflush(input.get()) != 0 || std::fseek(input.get(), 0, SEEK_SET) != 0)
    throw std::system_error(errno, std::generic_category(), "--plot: temporary file");
  const File output(std::fopen(path.c_str(), "wbe"), &std::fclose);
  if (!output) throw std::system_error(errno, std::generic_category(), path);
  if (run_gnuplot(input.get(), output.get()) != 0)
    throw UsageError(fmt::format("--plot: gnuplot could not draw {}", path));
}

/// What all pictures have in common.
constexpr std::string_view kScriptHead =
    "set terminal svg size 960,540 noenhanced background rgb 'white'\n"
    "set style fill solid 0.8 border -1\nset boxwidth 0.8\nset grid y\nset yrange [0:*]\nset xtics rotate by -45\n";

}  // namespace

void plot_plan(const partition::Plan& plan, const PlanRequest& request) {
  std::string script(kScriptHead);
  script += "$plan << END_OF_PLAN\n";
  for (std::size_t i = 0; i < plan.nodes.size(); ++i)
    script +=
        fmt::format("{} {} {} {}\n", i, data_field(plan.nodes[i].name), plan.nodes[i].records, plan.nodes[i].finish);
  constexpr std::size_t kMostLabels = 64;
  const std::string labels = plan.nodes.size() <= kMostLabels ? ":xtic(2)" : "";
  script += fmt::format(
      "END_OF_PLAN\nset title {}\nset ylabel 'records'\nset y2label {}\nset ytics nomirror\nset y2tics\n"
      "set y2range [0:*]\nset key outside bottom center horizontal\n"
      "plot $plan using 1:3{} with boxes linecolor rgb '#4c78a8' title 'records', "
      "$plan using 1:4 axes x1y2 with points pointtype 7 linecolor rgb '#e45756' title 'finish'\n",
      gnuplot_text(fmt::format("{} records, strategy {}", plan.records, plan.strategy)),
      gnuplot_text(fmt::format("finish ({})", request.unit)), labels);
  draw(*request.plot_path, script);
}

void plot_comparison(const partition::Comparison& comparison, const PlanRequest& request) {
  std::string script(kScriptHead);
  script += "$plans << END_OF_PLANS\n";
  for (std::size_t i = 0; i < comparison.plans.size(); ++i) {
    const partition::Plan& plan = comparison.plans[i].plan;
    script += fmt::format("{} {} {} {}\n", i, data_field(plan.strategy), plan.makespan, plan.lower_bound);
  }
  script += fmt::format(
      "END_OF_PLANS\nset title {}\nset ylabel {}\nset key outside bottom center horizontal\n"
      "plot $plans using 1:3:xtic(2) with boxes linecolor rgb '#4c78a8' title 'makespan', "
      "$plans using 1:4 with lines linewidth 2 linecolor rgb '#e45756' title 'lower bound'\n",
      gnuplot_text(fmt::format("{} records", request.problem.records)),
      gnuplot_text(fmt::format("makespan ({})", request.unit)));
  draw(*request.plot_path, script);
}

}  // namespace hetsort::cli
