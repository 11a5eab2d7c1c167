// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/calibrate_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "gen/generator.h"
#include "io/temp/temp_space.h"
#include "sort/input/rank_path.h"
#include "sort/machine/processor_quota.h"

namespace hetsort::cli {

namespace {

// The record numbers of rank r begin at r * 2^40, so no two ranks generate the same record.
constexpr int kRankNumberBits = 40;

// Memory of a sort, as a multiple of its records: the arena, and the blocks of exchange and output.
constexpr std::uint64_t kMemoryOfASort = 2;
// Upper estimate of a sort's time, as a multiple of the last sort's time a record. A sort of all ranks takes longer
// than one alone.
constexpr double kLongerThanTheLast = 1.5;
// Minimum memory of a sort: blocks, queues, buffers of connections.
constexpr std::uint64_t kMinMemoryOfASort = std::uint64_t{64} << 20;

gen::RecordRange numbers_of(int rank, std::uint64_t records) {
  return {gen::Uint128{static_cast<std::uint64_t>(rank)} << kRankNumberBits, records};
}

}  // namespace

CalibrationBench::CalibrationBench(const sort::SortOptions& options, comm::Communicator& ranks)
    : options_(options), ranks_(ranks), link_tag_(ranks.take_tags(1)) {}

double CalibrationBench::now_seconds() {
  return std::chrono::duration<double>(comm::Communicator::Clock::now().time_since_epoch()).count();
}

double CalibrationBench::job_start_seconds() {
  return std::chrono::duration<double>(ranks_.job_start().time_since_epoch()).count();
}

sort::DiskRates CalibrationBench::measure_disk(double seconds) {
  return sort::measure_disk(options_.spill.directories.front(), seconds);
}

sort::LinkRates CalibrationBench::measure_link(int peer, double seconds) {
  return sort::measure_link(ranks_, peer, link_tag_, seconds);
}

sort::TimedSort CalibrationBench::sort_alone(const std::vector<std::uint64_t>& shares) {
  prepare_input(shares);
  comm::Communicator alone;
  return time_sort({}, alone);
}

sort::TimedSort CalibrationBench::sort_together(const std::vector<std::uint64_t>& shares) {
  prepare_input(shares);
  return time_sort([&shares](std::uint64_t) { return sort::Shares{.records = shares}; }, ranks_);
}

void CalibrationBench::prepare_input(const std::vector<std::uint64_t>& shares) {
  const std::uint64_t records = shares[static_cast<std::size_t>(ranks_.rank())];
  const std::string& folder = options_.spill.directories.front();
  if (!input_) {
    io::inspect_space(folder, "temp directory");
    input_.emplace(folder, name_of("in") + std::to_string(ranks_.rank()));
    output_.emplace(folder, name_of("out") + std::to_string(ranks_.rank()));
  }
  if (records > input_records_) {
    const gen::Generator generator(gen::Form::kBinary, {}, numbers_of(ranks_.rank(), records));
    gen::RecordRange missing = numbers_of(ranks_.rank(), records - input_records_);
    missing.first += input_records_;
    std::uint64_t offset = input_records_ * gen::kRecordBytes;
    static_cast<void>(gen::generate(generator, missing,
                                    [&](std::span<const std::byte> piece) {
                                      input_->file().write_at(piece, offset);
                                      offset += piece.size();
                                    },
                                    {.threads = static_cast<unsigned>(options_.threads)}));
    // Otherwise the system would write it to disk while the sort is timed.
    input_->file().sync();
  } else if (records < input_records_) {
    input_->file().truncate(records * gen::kRecordBytes);
  }
  input_records_ = records;
  // Remove the old output now: freeing its blocks takes time for which the other ranks would wait.
  std::error_code error;
  std::filesystem::remove(output_->path(), error);
  if (error) throw io::Error("remove", output_->path(), error.value());
  memory_.keep(
      std::max(kMemoryOfASort * records * gen::kRecordBytes, std::min(kMinMemoryOfASort, options_.memory_bytes)));
  const double likely_seconds = kLongerThanTheLast * seconds_per_record_ * static_cast<double>(records);
  std::this_thread::sleep_for(std::chrono::duration<double>(memory_.wait_seconds(now_seconds(), likely_seconds)));
  // All begin when the last has its input.
  ranks_.barrier();
  memory_.release(now_seconds());
}

std::string CalibrationBench::name_of(const char* role) const {
  // In a folder that several hosts see, no two ranks use one name.
  return fmt::format("hetsort-calibrate-{}-{}-", role, ranks_.host());
}

std::string CalibrationBench::path_for(const io::TempFile& file, const char* role, int ranks) const {
  std::string path = file.path();
  if (ranks == 1) return path;
  const std::string name = name_of(role);
  return path.replace(path.rfind(name) + name.size(), std::to_string(ranks_.rank()).size(), sort::kRankPlace);
}

sort::TimedSort CalibrationBench::time_sort(const sort::PlanShares& shares, comm::Communicator& ranks) {
  sort::SortOptions options = options_;
  options.shares.output = shares;
  options.input.paths = {path_for(*input_, "in", ranks.size())};
  options.output.path = path_for(*output_, "out", ranks.size());
  sort::Monitor monitor;
  sort::RankResult result;
  const double stolen_before = sort::stolen_seconds();
  sort::sort_records(options, ranks, monitor, result);
  const double seconds = monitor.seconds();
  const double stolen_seconds = sort::stolen_seconds() - stolen_before;
  memory_.work_ended(now_seconds());
  seconds_per_record_ = seconds / static_cast<double>(std::max<std::uint64_t>(1, input_records_));
  return {{seconds, stolen_seconds}, result.work.seconds};
}

}  // namespace hetsort::cli
