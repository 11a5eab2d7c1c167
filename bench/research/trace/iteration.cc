// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/iteration.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>

namespace hetsort::research::trace {
namespace {

constexpr std::size_t kMaxPeriod = 1000;  // sections that a program file may have

bool alike(const TracedSection& a, const TracedSection& b) {
  return a.communication == b.communication && a.message_bytes == b.message_bytes && a.tiles == b.tiles;
}

bool waits_for_all(const TracedSection& section) {
  return section.communication == Communication::kReduction || section.communication == Communication::kAllToAll;
}

void divide(TracedSection& sum, std::int64_t count) {
  const auto by = static_cast<double>(count);
  for (RankWork& work : sum.ranks) {
    work.computing /= by;
    work.combining /= by;
    for (FileUse& use : work.files) {
      use.bytes_read /= count;
      use.bytes_written /= count;
      use.read_seconds /= by;
      use.write_seconds /= by;
    }
  }
}

/// The means of iterations of equal length that follow each other.
TracedIteration means(std::span<const TracedSection> sections, std::size_t length) {
  TracedIteration iteration;
  iteration.seen = static_cast<std::int64_t>(sections.size() / length);
  const std::int64_t skipped = iteration.seen > 1 ? 1 : 0;
  iteration.measured = iteration.seen - skipped;
  const auto measured = sections.subspan(static_cast<std::size_t>(skipped) * length);
  iteration.sections.assign(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(length));
  for (std::size_t i = length; i < measured.size(); ++i)
    for (std::size_t rank = 0; rank < measured[i].ranks.size(); ++rank)
      add_work(iteration.sections[i % length].ranks[rank], measured[i].ranks[rank]);
  for (TracedSection& section : iteration.sections) divide(section, iteration.measured);
  return iteration;
}

TracedIteration marked_iteration(std::span<const TracedSection> sections) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].ends_iteration) ends.push_back(i + 1);
  // The first one has what the program does before its iterations.
  if (ends.size() == 1) return means(sections.first(ends[0]), ends[0]);
  const std::size_t length = ends[1] - ends[0];
  for (std::size_t i = 2; i < ends.size(); ++i) {
    const auto before = sections.subspan(ends[i - 2], ends[i - 1] - ends[i - 2]);
    const auto one = sections.subspan(ends[i - 1], ends[i] - ends[i - 1]);
    if (!std::ranges::equal(before, one, alike))
      throw std::runtime_error("the marked iterations differ in their communication");
  }
  TracedIteration iteration = means(sections.subspan(ends[0], ends.back() - ends[0]), length);
  iteration.seen = static_cast<std::int64_t>(ends.size());
  return iteration;
}

struct Pattern {
  std::size_t begin = 0;
  std::size_t length = 0;  ///< sections of an iteration; 0 = none
  std::size_t covered = 0;
  double seconds = 0;  ///< seconds of all ranks in the covered sections
};

/// Seconds of all ranks in the sections before each one.
std::vector<double> seconds_before(std::span<const TracedSection> sections) {
  std::vector<double> sums{0.0};
  for (const TracedSection& section : sections) {
    double sum = sums.back();
    for (const RankWork& work : section.ranks) {
      sum += work.computing + work.combining;
      for (const FileUse& use : work.files) sum += use.read_seconds + use.write_seconds;
    }
    sums.push_back(sum);
  }
  return sums;
}

/// The shortest of the patterns that cover most of the run's work; among patterns with equal work that with most
/// sections.
Pattern pattern_of(std::span<const TracedSection> sections) {
  Pattern best;
  const std::vector<double> before = seconds_before(sections);
  for (std::size_t length = 1; length <= std::min(kMaxPeriod, sections.size() / 2); ++length) {
    std::size_t same = 0;  // sections up to here that are like those a period before
    for (std::size_t i = length; i < sections.size(); ++i) {
      same = alike(sections[i], sections[i - length]) ? same + 1 : 0;
      if (same < length) continue;
      const std::size_t begin = i + 1 - same - length;
      const double seconds = before[i + 1] - before[begin];
      if (std::pair(seconds, same + length) > std::pair(best.seconds, best.covered))
        best = {begin, length, same + length, seconds};
    }
  }
  return best;
}

}  // namespace

TracedIteration iteration_of(std::vector<TracedSection> sections) {
  if (std::ranges::any_of(sections, &TracedSection::ends_iteration)) return marked_iteration(sections);
  const std::span<const TracedSection> all(sections);
  Pattern pattern = pattern_of(all);
  if (pattern.length == 0) return means(all, all.size());
  // Any turn of a pattern is one. Clocks of ranks are compared where all of them wait.
  std::size_t turn = 0;
  while (turn < pattern.length && !waits_for_all(all[pattern.begin + turn + pattern.length - 1])) ++turn;
  if (turn == pattern.length || pattern.covered < 2 * pattern.length + turn) turn = 0;
  const std::size_t count = (pattern.covered - turn) / pattern.length;
  return means(all.subspan(pattern.begin + turn, count * pattern.length), pattern.length);
}

namespace {

NodeNumbers by_node(std::vector<double> values) { return {.values = std::move(values), .by_node = true}; }

/// The places of the files that each rank uses in the iteration, in the order of their first use: ranks name their own
/// files by number, and the n-th of each is the n-th variable.
std::vector<std::vector<std::int32_t>> files_of(const TracedIteration& iteration) {
  std::vector<std::vector<std::int32_t>> files(iteration.sections.front().ranks.size());
  for (const TracedSection& section : iteration.sections)
    for (std::size_t rank = 0; rank < files.size(); ++rank)
      for (const FileUse& use : section.ranks[rank].files)
        if (std::ranges::find(files[rank], use.file) == files[rank].end()) files[rank].push_back(use.file);
  return files;
}

/// What all ranks do with a variable in a section.
struct VariableUse {
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::vector<double> read_seconds;
  std::vector<double> write_seconds;
  bool by_other_thread = false;
};

VariableUse use_of(const TracedSection& section, const std::vector<std::vector<std::int32_t>>& files,
                   std::size_t variable) {
  VariableUse all;
  all.read_seconds.assign(files.size(), 0.0);
  all.write_seconds.assign(files.size(), 0.0);
  for (std::size_t rank = 0; rank < files.size(); ++rank) {
    if (variable >= files[rank].size()) continue;
    for (const FileUse& use : section.ranks[rank].files) {
      if (use.file != files[rank][variable]) continue;
      all.bytes_read += use.bytes_read;
      all.bytes_written += use.bytes_written;
      all.read_seconds[rank] += use.read_seconds;
      all.write_seconds[rank] += use.write_seconds;
      all.by_other_thread = all.by_other_thread || use.by_other_thread;
    }
  }
  return all;
}

/// Mean seconds for a row of a stage that reads, or writes.
std::vector<double> for_a_row(std::vector<double> seconds, std::int64_t stages, const std::vector<double>& rows) {
  for (std::size_t rank = 0; rank < seconds.size(); ++rank)
    seconds[rank] /= static_cast<double>(std::max<std::int64_t>(1, stages)) * rows[rank];
  return seconds;
}

/// A stage uses a variable if it reads or writes this part of what the stage with most bytes does. Less is a border row
/// or the like.
constexpr double kMinPart = 0.1;

void add_variable(Program& program, const TracedIteration& iteration,
                  const std::vector<std::vector<std::int32_t>>& files, const std::vector<double>& rows) {
  const std::size_t number = program.variables.size();
  std::vector<VariableUse> uses;
  std::int64_t bytes = 0;
  for (const TracedSection& section : iteration.sections) {
    uses.push_back(use_of(section, files, number));
    bytes = std::max({bytes, uses.back().bytes_read, uses.back().bytes_written});
  }
  const double min_bytes = std::max(1.0, kMinPart * static_cast<double>(bytes));
  std::vector<double> reading(files.size(), 0.0);
  std::vector<double> writing(files.size(), 0.0);
  std::int64_t readers = 0;
  std::int64_t writers = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    ProgramStage& stage = program.sections[i].stages.front();
    if (static_cast<double>(uses[i].bytes_read) >= min_bytes) {
      ++readers;
      stage.reads.push_back(number);
      if (uses[i].by_other_thread) stage.io = IoMode::kPrefetch;
      std::ranges::transform(reading, uses[i].read_seconds, reading.begin(), std::plus());
    }
    if (static_cast<double>(uses[i].bytes_written) >= min_bytes) {
      ++writers;
      stage.writes.push_back(number);
      std::ranges::transform(writing, uses[i].write_seconds, writing.begin(), std::plus());
    }
  }
  ProgramVariable variable;
  variable.name = "file" + std::to_string(number + 1);
  variable.storage = Storage::kFile;
  variable.read_only = writers == 0;
  variable.bytes = std::max(1.0, std::ceil(static_cast<double>(bytes) / static_cast<double>(program.rows)));
  variable.read_seconds = by_node(for_a_row(std::move(reading), readers, rows));
  variable.write_seconds = by_node(for_a_row(std::move(writing), writers, rows));
  program.variables.push_back(std::move(variable));
}

}  // namespace

Program program_of(const TracedIteration& iteration, const TracedMachine& machine, const std::vector<double>& rows,
                   std::int64_t iterations) {
  Program program;
  program.rows = static_cast<std::int64_t>(std::accumulate(rows.begin(), rows.end(), 0.0));
  program.iterations = iterations > 0 ? iterations : iteration.seen;
  program.send_overhead = by_node(machine.send_seconds);
  program.receive_overhead = by_node(machine.receive_seconds);
  program.latency = machine.latency_seconds;
  for (const TracedSection& from : iteration.sections) {
    ProgramSection section;
    section.name = "section" + std::to_string(program.sections.size() + 1);
    section.communication = from.communication;
    section.tiles = from.tiles;
    const auto bytes = static_cast<double>(from.message_bytes);
    if (from.communication == Communication::kAllToAll)
      section.bytes_per_row = std::ceil(bytes / static_cast<double>(program.rows));
    else
      section.message_bytes = bytes;
    ProgramStage stage;
    std::vector<double> per_row;
    std::vector<double> combining;
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      per_row.push_back(from.ranks[rank].computing / rows[rank]);
      combining.push_back(from.ranks[rank].combining);
    }
    stage.per_row = by_node(std::move(per_row));
    // The first rank combines in the model, whichever it was.
    if (from.communication == Communication::kReduction)
      section.reduce = by_node(std::vector<double>(rows.size(), *std::ranges::max_element(combining)));
    section.stages.push_back(std::move(stage));
    program.sections.push_back(std::move(section));
  }
  const std::vector<std::vector<std::int32_t>> files = files_of(iteration);
  std::size_t variables = 0;
  for (const std::vector<std::int32_t>& of_rank : files) variables = std::max(variables, of_rank.size());
  for (std::size_t i = 0; i < variables; ++i) add_variable(program, iteration, files, rows);
  return program;
}

}  // namespace hetsort::research::trace
