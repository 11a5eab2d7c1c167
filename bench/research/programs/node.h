// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A rank of an iterative program: its arrays, the stages over them, and the communication that ends a section.
//
// Memory is divided as the model MHETA says (bench/research/mheta/stage_times.h): variables stay in memory as long as
// they fit, and a stage passes over the others in blocks. An instrumented rank has on disk what some distribution may
// put there, and measures what computing, reading and writing take. Computing is processor time, divided by the part of
// a processor that the rank may use: a host with a quota that waits for others has not used it up and computes as fast
// as one without, until it no longer waits. A rank that emulates a slower processor computes, and then waits as long as
// that one would still compute; its seconds are those of the clock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/research/mheta/program_model.h"
#include "bench/research/mheta/stage_times.h"
#include "bench/research/programs/array.h"
#include "comm/communicator.h"

namespace hetsort::research::programs {

/// Name of stages in which every rank does the same work, whatever its rows.
constexpr const char* kReplicatedWork = "vectors";

struct RunSettings {
  std::vector<std::int64_t> rows;             ///< rows of each rank
  std::vector<double> memory_bytes;           ///< memory for the arrays of each rank; empty = all fits
  std::vector<double> disk_bytes_per_second;  ///< rate of the emulated disk of each rank; empty = as fast as files are
  std::vector<double> elements_per_second;    ///< pace of the emulated processor of each rank; empty = the real one
  std::string folder = "/tmp";                ///< folder of the arrays' files
  bool instrumented = false;
};

/// What an instrumented rank has measured. Seconds.
struct MeasuredCosts {
  std::vector<double> computing;  ///< seconds of each stage, counted over all sections
  std::vector<double> reading;    ///< seconds for each variable, for all rows that were read
  std::vector<double> writing;
  std::vector<double> rows_read;  ///< rows of each variable
  std::vector<double> rows_written;
  std::vector<double> combining;  ///< seconds of each section, on the first rank of a reduction
};

/// Rows [begin, end) of the variables of a stage.
struct Block {
  std::int64_t begin = 0;  ///< counted from the rank's first row
  std::int64_t end = 0;
  std::int64_t tile = 0;
  std::vector<double*> first{};                ///< place of row `first_row` of each variable
  std::vector<std::int64_t> first_row{};       ///< first row in memory of each variable
  std::vector<std::int64_t> columns{};         ///< columns of each variable in the tile
  std::vector<std::vector<double>> buffers{};  ///< memory for rows from the disk, which stays for the next block

  double* row(std::size_t variable, std::int64_t number) const {
    return first[variable] + (number - first_row[variable]) * columns[variable];
  }
};

struct StageRun {
  std::size_t section = 0;
  std::size_t stage = 0;
  std::int64_t halo = 0;  ///< rows beyond a block, of the rank's own, that the stage reads as well
  std::int64_t tile = 0;
};

class Node {
 public:
  /// Collective. Throws: partition::PlanError, io::Error.
  Node(comm::Communicator& ranks, const RunSettings& settings, const research::Program& program);

  const research::Program& program() const { return model_.program(); }
  std::int64_t rows() const { return rows_; }
  std::int64_t first_row() const { return first_row_; }
  bool first() const { return place_ == 0; }
  bool last() const { return place_ + 1 == active_.size(); }
  comm::Communicator& ranks() { return ranks_; }
  const RunSettings& settings() const { return settings_; }
  const MeasuredCosts& costs() const { return costs_; }
  /// Calls `iterate` once to warm up, then this often, and keeps the mean of each cost: a host that gets a part of a
  /// processor stands still now and then, and a single iteration may fall between.
  void measure_costs(int times, const std::function<void()>& iterate);

  /// Sets every element. `row` counts from the program's first row, `column` from the first of the row.
  void fill(std::size_t variable, const std::function<double(std::int64_t row, std::int64_t column)>& value);
  /// Elements of all rows that this rank has of the variable.
  std::vector<double> all_rows(std::size_t variable);

  /// Reads, computes and writes block by block; with IoMode::kPrefetch the next block is read meanwhile.
  void run_stage(const StageRun& run, const std::function<void(const Block&)>& compute);
  /// Runs a stage without distributed variables, which only computes.
  void compute(const StageRun& run, const std::function<void()>& work);
  /// Reads the rank's row 0 or rows() - 1, from the disk if the variable is there.
  void read_row(std::size_t variable, std::int64_t row, std::span<double> into);

  // Communication at the ends of sections. Ranks without rows return at once. All are collective.

  /// Sends `lower` to the rank before and `upper` to the one after, and receives theirs.
  void exchange_with_neighbours(std::span<const double> lower, std::span<const double> upper,
                                std::span<double> from_lower, std::span<double> from_upper);
  using Combine = std::function<void(std::span<double> values, std::span<const double> others)>;
  /// The first rank combines the values of all ranks and sends them to all.
  void reduce(std::size_t section, std::span<double> values, const Combine& combine);
  double sum(std::size_t section, double value);
  /// Pass a tile of a pipeline on. The first rank receives nothing, the last one sends nothing.
  void receive_tile(std::span<double> from_lower);
  void send_tile(std::span<const double> upper);

  void send(int to, std::span<const double> values);
  void receive(int from, std::span<double> values);

 private:
  void forget_costs();
  void begin_block(Block& block, std::int64_t number, std::int64_t count, const StageRun& run) const;
  void load(Block& block, const StageRun& run, std::size_t variable, bool reads);
  void read_all(Block& block, const StageRun& run);
  void store(const Block& block, const StageRun& run);
  double timed(std::int64_t elements, const std::function<void()>& work) const;
  const research::ProgramStage& stage_of(const StageRun& run) const;
  std::size_t stage_number(const StageRun& run) const;
  std::int64_t passes_of(const StageRun& run) const;
  void wait_until_none(const int& open);

  comm::Communicator& ranks_;
  RunSettings settings_;
  research::ProgramModel model_;
  research::MemoryDivision memory_;
  std::vector<int> active_;  // ranks that have rows
  std::size_t place_ = 0;    // place of this rank in active_
  std::int64_t rows_ = 0;
  std::int64_t first_row_ = 0;
  std::vector<Array> arrays_;
  std::array<Block, 2> blocks_;  // the one that is computed, and the next one
  double slowdown_ = 1;          // elapsed seconds of a second of processor time
  double element_seconds_ = 0;   // of the emulated processor; 0 = none is emulated
  MeasuredCosts costs_;
  int tag_ = 0;
};

}  // namespace hetsort::research::programs
