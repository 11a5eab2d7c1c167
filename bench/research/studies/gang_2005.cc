// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Repeats tables 3.3 to 3.5 of Nakazawa 2005 by simulation and prints them as Markdown, beside the thesis' figures.
//
//   gang_2005 [SEEDS]
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/research/queue/gang.h"

namespace hetsort::research::studies {
namespace {

using research::GangOptions;
using research::ProcessorMethod;

constexpr std::size_t kJobs = 100;

struct Setting {
  const char* table;
  const char* name;
  double max_critical;
  int iterations;
};
constexpr Setting kBaseline{"3.3", "baseline", 128, 100};
constexpr Setting kHalfCritical{"3.4", "half CN", 64, 100};
constexpr Setting kTwiceCritical{"3.4", "twice CN", 256, 100};
constexpr Setting kHalfIo{"3.5", "half I/O", 128, 50};
constexpr Setting kDoubleIo{"3.5", "double I/O", 128, 200};

struct Row {
  Setting setting;
  bool multi_row;
  ProcessorMethod method;
  double turnaround;  ///< turnaround in the thesis; likewise the next one
  double end;
};

constexpr ProcessorMethod kP = ProcessorMethod::kSpeedup;
constexpr ProcessorMethod kA = ProcessorMethod::kAll;
constexpr ProcessorMethod kCP = ProcessorMethod::kSpeedupOrAll;
constexpr ProcessorMethod kC = ProcessorMethod::kCritical;

const std::vector<Row> kRows{{kBaseline, false, kP, 15912, 40007},       {kBaseline, false, kA, 4455, 5912},
                             {kBaseline, false, kCP, 4109, 5513},        {kBaseline, false, kC, 3074, 4302},
                             {kBaseline, true, kP, 14132, 22666},        {kBaseline, true, kCP, 3706, 5532},
                             {kBaseline, true, kC, 2597, 4792},          {kHalfCritical, false, kP, 8007, 20464},
                             {kHalfCritical, false, kA, 4455, 5912},     {kHalfCritical, false, kCP, 4036, 5260},
                             {kHalfCritical, false, kC, 1864, 2682},     {kHalfCritical, true, kP, 6976, 12072},
                             {kHalfCritical, true, kCP, 3416, 5392},     {kHalfCritical, true, kC, 1752, 3642},
                             {kTwiceCritical, false, kP, 31708, 79124},  {kTwiceCritical, false, kA, 13305, 24170},
                             {kTwiceCritical, false, kCP, 13179, 23908}, {kTwiceCritical, false, kC, 12726, 23388},
                             {kTwiceCritical, true, kP, 28021, 43877},   {kTwiceCritical, true, kCP, 13033, 23990},
                             {kTwiceCritical, true, kC, 12123, 23608},   {kHalfIo, false, kP, 8277, 20484},
                             {kHalfIo, false, kA, 4455, 5912},           {kHalfIo, false, kCP, 4109, 5515},
                             {kHalfIo, false, kC, 3079, 4317},           {kHalfIo, true, kP, 7177, 12066},
                             {kHalfIo, true, kCP, 3705, 5532},           {kHalfIo, true, kC, 2603, 4812},
                             {kDoubleIo, false, kP, 31191, 79152},       {kDoubleIo, false, kA, 4455, 5912},
                             {kDoubleIo, false, kCP, 4089, 5493},        {kDoubleIo, false, kC, 3082, 4338},
                             {kDoubleIo, true, kP, 27597, 43878},        {kDoubleIo, true, kCP, 3706, 5532},
                             {kDoubleIo, true, kC, 2597, 4792}};

struct Measured {
  double turnaround = 0;
  double deviation = 0;  ///< deviation of the turnaround over the seeds
  double end = 0;
};

/// `latest`: jobs arrive uniformly from 0 to this time.
Measured simulate(const Row& row, int seeds, double latest = 0) {
  GangOptions options;
  options.iterations = row.setting.iterations;
  options.multi_row = row.multi_row;
  options.method = row.method;
  Measured mean;
  double squares = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    auto jobs = research::random_gang_jobs(kJobs, row.setting.max_critical, random);
    for (research::GangJob& job : jobs)
      if (latest > 0) job.arrival = latest * static_cast<double>(random() >> 11) * 0x1p-53;
    const research::GangResult result = research::simulate_gang(jobs, options);
    mean.turnaround += result.mean_turnaround / seeds;
    mean.end += result.end / seeds;
    squares += result.mean_turnaround * result.mean_turnaround / seeds;
  }
  mean.deviation = std::sqrt(std::max(0.0, squares - mean.turnaround * mean.turnaround));
  return mean;
}

std::string_view letter(ProcessorMethod method) {
  constexpr std::string_view kLetters[] = {"p", "a", "cP", "c"};
  return kLetters[static_cast<std::size_t>(method)];
}

void print_tables(int seeds) {
  fmt::print(
      "| table | jobs | mode | method | turnaround, thesis | here | deviation | difference | end, thesis | here |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  double baseline_p[2] = {0, 0};
  double baseline_c[2] = {0, 0};
  int outside = 0;
  for (const Row& row : kRows) {
    const Measured here = simulate(row, seeds);
    const double difference = here.turnaround / row.turnaround - 1;
    outside += std::abs(difference) > 0.12 ? 1 : 0;
    if (std::string_view(row.setting.name) == kBaseline.name && row.method == kP)
      baseline_p[row.multi_row] = here.turnaround;
    if (std::string_view(row.setting.name) == kBaseline.name && row.method == kC)
      baseline_c[row.multi_row] = here.turnaround;
    fmt::print("| {} | {} | {} | {} | {:.0f} | {:.0f} | {:.0f} | {:+.1f} % | {:.0f} | {:.0f} |\n", row.setting.table,
               row.setting.name, row.multi_row ? "Enhanced" : "Schark", letter(row.method), row.turnaround,
               here.turnaround, here.deviation, 100 * difference, row.end, here.end);
  }
  fmt::print("\n{} of {} turnaround times differ by more than 12 %.\n", outside, kRows.size());
  fmt::print("Baseline, p / c: Schark {:.1f} (thesis 5.2), Enhanced {:.1f} (thesis 5.4).\n",
             baseline_p[0] / baseline_c[0], baseline_p[1] / baseline_c[1]);
}

/// The thesis has no figures of these jobs: "largely similar results".
void print_arrivals(int seeds) {
  constexpr double kLatest = 2000;  // about half of the time that the jobs of method c take
  fmt::print(
      "\nBaseline with jobs that arrive uniformly until {:.0f}: turnaround.\n\n"
      "| mode | p | a | cP | c | p / c | a / c, all at the start | a / c |\n|---|---|---|---|---|---|---|---|\n",
      kLatest);
  for (const bool multi_row : {false, true}) {
    std::vector<double> turnaround;
    std::vector<double> at_start;
    for (const ProcessorMethod method : {kP, kA, kCP, kC}) {
      const Row row{kBaseline, multi_row, method, 0, 0};
      turnaround.push_back(simulate(row, seeds, kLatest).turnaround);
      at_start.push_back(simulate(row, seeds).turnaround);
    }
    fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.1f} | {:.2f} | {:.2f} |\n",
               multi_row ? "Enhanced" : "Schark", turnaround[0], turnaround[1], turnaround[2], turnaround[3],
               turnaround[0] / turnaround[3], at_start[1] / at_start[3], turnaround[1] / turnaround[3]);
  }
}

}  // namespace
}  // namespace hetsort::research::studies

int main(int count, char** words) {
  int seeds = 20;
  if (count > 1) {
    const std::string_view word = words[1];
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), seeds);
    if (count > 2 || status != std::errc{} || end != word.data() + word.size() || seeds < 1) {
      fmt::print(stderr, "usage: gang_2005 [SEEDS]\n");
      return 2;
    }
  }
  hetsort::research::studies::print_tables(seeds);
  hetsort::research::studies::print_arrivals(seeds);
  return 0;
}
