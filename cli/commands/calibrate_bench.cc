// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/calibrate_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <random>
#include <span>

#include "gen/generator.h"
#include "io/temp/temp_space.h"
#include "order/layout_text.h"
#include "sort/calibrate/link_rates.h"
#include "sort/input/rank_path.h"
#include "sort/machine/processor_quota.h"

namespace hetsort::cli {

namespace {

// The record numbers of rank r begin at r * 2^40, so no two ranks generate the same record.
constexpr int kRankNumberBits = 40;
constexpr std::size_t kRandomPieceBytes = std::size_t{1} << 20;

gen::RecordRange numbers_of(int rank, std::uint64_t records) {
  return {gen::Uint128{static_cast<std::uint64_t>(rank)} << kRankNumberBits, records};
}

/// `threads`: number of computing threads of the sort.
sort::SortTimes times_of(const sort::Monitor& monitor, double threads, double stolen) {
  const std::optional<sort::ProcessorQuota> quota = sort::read_processor_quota();
  const bool can_stop = quota && quota->processors < threads;
  sort::SortTimes times{.whole = monitor.seconds(), .stolen = stolen};
  for (const sort::PhaseTime& phase : monitor.phases()) {
    const double seconds = phase.end - phase.begin;
    const double processor = can_stop ? phase.processor_seconds / quota->processors : 0;
    if (phase.name == "form_runs") times.form = seconds, times.form_processor = processor;
    if (phase.name == "exchange" || phase.name == "merge_runs")
      times.exchange = seconds, times.exchange_processor = processor;
    if (phase.name == "publish") times.publish = seconds;
  }
  return times;
}

}  // namespace

CalibrationBench::CalibrationBench(const sort::SortOptions& options, comm::Communicator& ranks)
    : options_(options), ranks_(ranks), tag_(ranks.take_tags(2)) {}

double CalibrationBench::now_seconds() {
  return std::chrono::duration<double>(comm::Communicator::Clock::now().time_since_epoch()).count();
}

double CalibrationBench::job_start_seconds() {
  return std::chrono::duration<double>(ranks_.job_start().time_since_epoch()).count();
}

sort::DiskRates CalibrationBench::measure_disk(double seconds) {
  return sort::measure_disk(options_.spill.directories.front(), seconds);
}

std::vector<double> CalibrationBench::transfer(const std::vector<sort::Flow>& flows) {
  std::vector<double> seconds;
  for (const sort::FlowTime& time : sort::transfer_flows(ranks_, tag_, flows).flows) seconds.push_back(time.all);
  return seconds;
}

sort::SortTimes CalibrationBench::sort_alone(std::uint64_t records) {
  prepare_input(records);
  comm::Communicator alone;
  return time_sort({}, alone, false);
}

sort::SortTimes CalibrationBench::sort_together(const std::vector<std::uint64_t>& input,
                                                const std::vector<std::uint64_t>& output, bool synced) {
  prepare_input(input[static_cast<std::size_t>(ranks_.rank())]);
  return time_sort([&output](const sort::RecordsToShare&) { return sort::Shares{.records = output}; }, ranks_, synced);
}

void CalibrationBench::add_records(std::uint64_t records) {
  std::uint64_t offset = input_records_ * options_.layout.record_bytes;
  if (order::layout_text(options_.layout) == order::layout_text({})) {
    const gen::Generator generator(gen::Form::kBinary, {}, numbers_of(ranks_.rank(), records));
    gen::RecordRange missing = numbers_of(ranks_.rank(), records - input_records_);
    missing.first += input_records_;
    static_cast<void>(gen::generate(generator, missing,
                                    [&](std::span<const std::byte> piece) {
                                      input_->file().write_at(piece, offset);
                                      offset += piece.size();
                                    },
                                    {.threads = static_cast<unsigned>(options_.threads)}));
    return;
  }
  // Several sizes are measured, and no two ranks may sort the same records.
  std::mt19937_64 random((static_cast<std::uint64_t>(ranks_.rank()) << kRankNumberBits) + offset);
  std::vector<std::uint64_t> piece(kRandomPieceBytes / sizeof(std::uint64_t));
  for (const std::uint64_t end = records * options_.layout.record_bytes; offset < end;) {
    std::ranges::generate(piece, std::ref(random));
    const std::span<const std::byte> bytes = std::as_bytes(std::span(piece));
    input_->file().write_at(bytes.first(std::min<std::uint64_t>(bytes.size(), end - offset)), offset);
    offset += std::min<std::uint64_t>(bytes.size(), end - offset);
  }
}

void CalibrationBench::prepare_input(std::uint64_t records) {
  const std::string& folder = options_.spill.directories.front();
  if (!input_) {
    io::inspect_space(folder, "temp directory");
    input_.emplace(folder, name_of("in") + std::to_string(ranks_.rank()));
    output_.emplace(folder, name_of("out") + std::to_string(ranks_.rank()));
  }
  if (records > input_records_) {
    add_records(records);
    // Otherwise the system would write the input to disk while the sort is timed.
    input_->file().sync();
  } else if (records < input_records_) {
    input_->file().truncate(records * options_.layout.record_bytes);
  }
  input_records_ = records;
  // Remove the old output now: freeing its blocks takes time for which the other ranks would wait.
  std::error_code error;
  std::filesystem::remove(output_->path(), error);
  if (error) throw io::Error("remove", output_->path(), error.value());
  // All begin when the last rank has its input.
  ranks_.barrier();
}

std::string CalibrationBench::name_of(const char* role) const {
  // In a folder that several hosts see, no two ranks use the same name.
  return fmt::format("hetsort-calibrate-{}-{}-", role, ranks_.host());
}

std::string CalibrationBench::path_for(const io::TempFile& file, const char* role, int ranks) const {
  std::string path = file.path();
  if (ranks == 1) return path;
  const std::string name = name_of(role);
  return path.replace(path.rfind(name) + name.size(), std::to_string(ranks_.rank()).size(), sort::kRankPlace);
}

sort::SortTimes CalibrationBench::time_sort(const sort::PlanShares& shares, comm::Communicator& ranks, bool synced) {
  sort::SortOptions options = options_;
  options.shares.output = shares;
  options.output.sync = synced;
  options.input.paths = {path_for(*input_, "in", ranks.size())};
  options.output.paths = {path_for(*output_, "out", ranks.size())};
  sort::Monitor monitor;
  sort::RankResult result;
  const double stolen_before = sort::stolen_seconds();
  sort::sort_records(options, ranks, monitor, result);
  monitor.end_phases();
  return times_of(monitor, static_cast<double>(options.threads), sort::stolen_seconds() - stolen_before);
}

}  // namespace hetsort::cli
