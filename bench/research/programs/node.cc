// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/programs/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "partition/error.h"
#include "sort/machine/processor_quota.h"

namespace hetsort::research::programs {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::vector<research::ProgramNode> nodes_of(const RunSettings& settings) {
  std::vector<research::ProgramNode> nodes(settings.rows.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = fmt::format("rank {}", i);
    nodes[i].host = i;
    if (!settings.memory_bytes.empty()) nodes[i].memory_bytes = settings.memory_bytes[i];
  }
  return nodes;
}

/// The program without communication among neighbours on a single rank, for which the model refuses it.
research::Program structure_on(research::Program program, std::size_t ranks) {
  if (ranks > 1) return program;
  for (research::ProgramSection& section : program.sections) section.communication = research::Communication::kNone;
  return program;
}

}  // namespace

Node::Node(comm::Communicator& ranks, const RunSettings& settings, const research::Program& program)
    : ranks_(ranks), settings_(settings), model_(structure_on(program, settings.rows.size()), nodes_of(settings)) {
  tag_ = ranks.take_tags(1);
  if (const auto quota = sort::read_processor_quota())
    slowdown_ = std::max(1.0, ranks.ranks_on_host() / quota->processors);
  const auto own = static_cast<std::size_t>(ranks.rank());
  if (!settings.elements_per_second.empty()) element_seconds_ = 1 / settings.elements_per_second[own];
  for (std::size_t rank = 0; rank < settings.rows.size(); ++rank) {
    if (rank == own) place_ = active_.size();
    if (rank < own) first_row_ += settings.rows[rank];
    if (settings.rows[rank] > 0) active_.push_back(static_cast<int>(rank));
  }
  rows_ = settings.rows[own];
  const auto rows = static_cast<double>(rows_);
  memory_ = research::divide_memory(model_, own, {rows, rows});
  // The instrumented iteration forces I/O on each variable that some distribution may put on this rank's disk (5.2.2).
  const auto all_rows = static_cast<double>(program.rows);
  const research::MemoryDivision in_question =
      settings.instrumented ? research::divide_memory(model_, own, {all_rows, all_rows}) : memory_;
  std::int64_t tiles = 1;
  for (const research::ProgramSection& section : program.sections) tiles = std::max(tiles, section.tiles);
  const double rate = settings.disk_bytes_per_second.empty() ? 0.0 : settings.disk_bytes_per_second[own];
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    const bool disk = research::on_disk(model_, i, in_question);
    const auto columns = static_cast<std::int64_t>(program.variables[i].bytes / sizeof(double));
    arrays_.emplace_back(ArrayShape{rows_, columns, tiles}, disk ? settings.folder : "", rate);
  }
  forget_costs();
}

void Node::forget_costs() {
  std::size_t stages = 0;
  for (const research::ProgramSection& section : program().sections) stages += section.stages.size();
  const std::vector<double> by_variable(arrays_.size(), 0.0);
  costs_ = {std::vector<double>(stages, 0.0),
            by_variable,
            by_variable,
            by_variable,
            by_variable,
            std::vector<double>(program().sections.size(), 0.0)};
}

void Node::measure_costs(int times, const std::function<void()>& iterate) {
  iterate();
  forget_costs();
  for (int i = 0; i < times; ++i) iterate();
  // Seconds of reading and writing are not divided: they count together with the rows that were read and written.
  for (std::vector<double>* sums : {&costs_.computing, &costs_.combining})
    for (double& sum : *sums) sum /= times;
}

void Node::fill(std::size_t variable, const std::function<double(std::int64_t, std::int64_t)>& value) {
  Array& array = arrays_[variable];
  std::vector<double> row(static_cast<std::size_t>(array.tile_columns()));
  for (std::int64_t tile = 0; tile < array.shape().tiles; ++tile)
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = value(first_row_ + i, tile * array.tile_columns() + static_cast<std::int64_t>(j));
      array.set(tile, i, row);
    }
}

std::vector<double> Node::all_rows(std::size_t variable) {
  const Array& array = arrays_[variable];
  std::vector<double> values(static_cast<std::size_t>(rows_ * array.shape().columns));
  std::vector<double> row(static_cast<std::size_t>(array.tile_columns()));
  for (std::int64_t i = 0; i < rows_; ++i)
    for (std::int64_t tile = 0; tile < array.shape().tiles; ++tile) {
      array.read(tile, i, row);
      std::ranges::copy(row, values.begin() + i * array.shape().columns + tile * array.tile_columns());
    }
  return values;
}

const research::ProgramStage& Node::stage_of(const StageRun& run) const {
  return program().sections[run.section].stages[run.stage];
}

std::size_t Node::stage_number(const StageRun& run) const {
  std::size_t number = run.stage;
  for (std::size_t i = 0; i < run.section; ++i) number += program().sections[i].stages.size();
  return number;
}

std::int64_t Node::passes_of(const StageRun& run) const {
  if (settings_.instrumented) return 1;
  const auto tiles = static_cast<double>(program().sections[run.section].tiles);
  const double passes = std::min(std::ceil(memory_.passes / tiles), static_cast<double>(rows_));
  return static_cast<std::int64_t>(passes);
}

/// Computes elements of arrays or vectors. Returns the seconds that this takes on the rank's processor.
double Node::timed(std::int64_t elements, const std::function<void()>& work) const {
  if (element_seconds_ == 0) {
    const double before = sort::processor_seconds();
    work();
    return (sort::processor_seconds() - before) * slowdown_;
  }
  const auto begin = Clock::now();
  work();
  const std::chrono::duration<double> emulated(static_cast<double>(elements) * element_seconds_);
  std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(emulated));
  return seconds_since(begin);
}

void Node::begin_block(Block& block, std::int64_t number, std::int64_t count, const StageRun& run) const {
  block.begin = rows_ * number / count;
  block.end = rows_ * (number + 1) / count;
  block.tile = run.tile;
  block.first.assign(arrays_.size(), nullptr);
  block.first_row.assign(arrays_.size(), 0);
  block.buffers.resize(arrays_.size());
  block.columns.clear();
  for (const Array& array : arrays_) block.columns.push_back(array.tile_columns());
}

/// Lets the block point to the rows of a variable; reads them if they are on disk. Thread safety: one call for each
/// variable at a time.
void Node::load(Block& block, const StageRun& run, std::size_t variable, bool reads) {
  if (block.first[variable] != nullptr) return;
  Array& array = arrays_[variable];
  if (!array.on_disk()) {
    block.first[variable] = array.in_memory(run.tile, 0);
    return;
  }
  const std::int64_t halo = reads ? run.halo : 0;
  const std::int64_t from = std::max<std::int64_t>(0, block.begin - halo);
  const std::int64_t to = std::min(rows_, block.end + halo);
  const auto begin = Clock::now();
  std::vector<double>& buffer = block.buffers[variable];
  const auto size = static_cast<std::size_t>((to - from) * array.tile_columns());
  if (buffer.size() < size) buffer.resize(size);
  block.first[variable] = buffer.data();
  block.first_row[variable] = from;
  if (!reads) return;
  array.read(run.tile, from, std::span(buffer).first(size));
  costs_.reading[variable] += seconds_since(begin);
  costs_.rows_read[variable] +=
      static_cast<double>(to - from) / static_cast<double>(program().sections[run.section].tiles);
}

void Node::read_all(Block& block, const StageRun& run) {
  for (const std::size_t variable : stage_of(run).reads) load(block, run, variable, true);
}

void Node::store(const Block& block, const StageRun& run) {
  for (const std::size_t variable : stage_of(run).writes) {
    Array& array = arrays_[variable];
    if (!array.on_disk()) continue;
    const auto begin = Clock::now();
    const double* rows = block.row(variable, block.begin);
    array.write(run.tile, block.begin,
                {rows, static_cast<std::size_t>((block.end - block.begin) * array.tile_columns())});
    costs_.writing[variable] += seconds_since(begin);
    costs_.rows_written[variable] +=
        static_cast<double>(block.end - block.begin) / static_cast<double>(program().sections[run.section].tiles);
  }
}

void Node::run_stage(const StageRun& run, const std::function<void(const Block&)>& compute) {
  if (rows_ == 0) return;
  const std::int64_t passes = passes_of(run);
  std::int64_t columns = 1;
  for (const std::vector<std::size_t>& variables : {stage_of(run).reads, stage_of(run).writes})
    for (const std::size_t variable : variables) columns = std::max(columns, arrays_[variable].tile_columns());
  const bool ahead = stage_of(run).io == research::IoMode::kPrefetch && !settings_.instrumented && passes > 1;
  begin_block(blocks_[0], 0, passes, run);
  read_all(blocks_[0], run);
  for (std::int64_t number = 0; number < passes; ++number) {
    Block& block = blocks_[static_cast<std::size_t>(number % 2)];
    Block& next = blocks_[static_cast<std::size_t>((number + 1) % 2)];
    std::vector<std::future<void>> reading;  // each variable by itself, as equation 5.2 has it
    if (number + 1 < passes) {
      begin_block(next, number + 1, passes, run);
      for (const std::size_t variable : stage_of(run).reads)
        if (ahead)
          reading.push_back(std::async(std::launch::async, [&, variable] { load(next, run, variable, true); }));
    }
    for (const std::size_t variable : stage_of(run).writes) load(block, run, variable, false);
    costs_.computing[stage_number(run)] += timed((block.end - block.begin) * columns, [&] { compute(block); });
    store(block, run);
    for (std::future<void>& one : reading) one.get();
    if (number + 1 < passes && !ahead) read_all(next, run);
  }
}

void Node::compute(const StageRun& run, const std::function<void()>& work) {
  if (rows_ == 0) return;
  const bool replicated = stage_of(run).name == kReplicatedWork;
  costs_.computing[stage_number(run)] += timed(replicated ? program().rows : rows_, work);
}

void Node::read_row(std::size_t variable, std::int64_t row, std::span<double> into) {
  if (rows_ > 0) arrays_[variable].read(0, row, into);
}

void Node::wait_until_none(const int& open) {
  // Polling hosts would take processor time from each other; a message takes longer than this on most networks.
  constexpr auto kPause = std::chrono::microseconds(50);
  while (open > 0) {
    if (ranks_.progress()) continue;
    if (ranks_.failed()) ranks_.drain();
    ranks_.check();
    if (open > 0) std::this_thread::sleep_for(kPause);
  }
}

void Node::send(int to, std::span<const double> values) {
  int open = 1;
  ranks_.send(to, tag_, std::as_bytes(values), [&] { --open; });
  wait_until_none(open);
}

void Node::receive(int from, std::span<double> values) {
  int open = 1;
  ranks_.receive(from, tag_, std::as_writable_bytes(values), [&](std::size_t) { --open; });
  wait_until_none(open);
}

void Node::exchange_with_neighbours(std::span<const double> lower, std::span<const double> upper,
                                    std::span<double> from_lower, std::span<double> from_upper) {
  if (rows_ == 0) return;
  int open = 0;
  const auto sent = [&] { --open; };
  const auto received = [&](std::size_t) { --open; };
  if (!first()) {
    open += 2;
    ranks_.receive(active_[place_ - 1], tag_, std::as_writable_bytes(from_lower), received);
    ranks_.send(active_[place_ - 1], tag_, std::as_bytes(lower), sent);
  }
  if (!last()) {
    open += 2;
    ranks_.receive(active_[place_ + 1], tag_, std::as_writable_bytes(from_upper), received);
    ranks_.send(active_[place_ + 1], tag_, std::as_bytes(upper), sent);
  }
  wait_until_none(open);
}

void Node::reduce(std::size_t section, std::span<double> values, const Combine& combine) {
  if (rows_ == 0) return;
  if (!first()) {
    send(active_.front(), values);
    receive(active_.front(), values);
    return;
  }
  std::vector<double> others(values.size());
  for (std::size_t place = 1; place < active_.size(); ++place) {
    receive(active_[place], others);
    costs_.combining[section] += timed(static_cast<std::int64_t>(values.size()), [&] { combine(values, others); });
  }
  for (std::size_t place = 1; place < active_.size(); ++place) send(active_[place], values);
}

double Node::sum(std::size_t section, double value) {
  reduce(section, {&value, 1},
         [](std::span<double> values, std::span<const double> others) { values[0] += others[0]; });
  return value;
}

void Node::receive_tile(std::span<double> from_lower) {
  if (rows_ > 0 && !first()) receive(active_[place_ - 1], from_lower);
}

void Node::send_tile(std::span<const double> upper) {
  if (rows_ > 0 && !last()) send(active_[place_ + 1], upper);
}

}  // namespace hetsort::research::programs
