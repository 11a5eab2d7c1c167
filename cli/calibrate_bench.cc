// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_bench.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "gen/generator.h"
#include "io/temp_space.h"
#include "sort/rank_path.h"

namespace hetsort::cli {

namespace {

// Ranks make records of their own: numbers this far apart never meet.
constexpr int kRankNumberBits = 40;

gen::RecordRange numbers_of(int rank, std::uint64_t records) {
  return {gen::Uint128{static_cast<std::uint64_t>(rank)} << kRankNumberBits, records};
}

}  // namespace

CalibrationBench::CalibrationBench(const sort::SortOptions& options, sort::Communicator& ranks)
    : options_(options), ranks_(ranks), link_tag_(ranks.take_tags(1)) {}

double CalibrationBench::now_seconds() {
  return std::chrono::duration<double>(sort::Communicator::Clock::now().time_since_epoch()).count();
}

double CalibrationBench::job_start_seconds() {
  return std::chrono::duration<double>(ranks_.job_start().time_since_epoch()).count();
}

io::DiskRates CalibrationBench::measure_disk(double seconds) {
  return io::measure_disk(options_.temp_directories.front(), seconds);
}

sort::LinkRates CalibrationBench::measure_link(int peer, double seconds) {
  return sort::measure_link(ranks_, peer, link_tag_, seconds);
}

double CalibrationBench::sort_alone(std::uint64_t records) {
  const Input& input = input_of(alone_, "alone", {records}, records);
  sort::Communicator alone;
  return time_sort(input, {}, alone);
}

double CalibrationBench::sort_together(const std::vector<std::uint64_t>& shares) {
  alone_.clear();
  const Input& input = input_of(together_, "all", shares, shares[static_cast<std::size_t>(ranks_.rank())]);
  // All begin when the last has its input.
  std::vector<std::uint64_t> ready{1};
  ranks_.all_reduce_sum(ready);
  return time_sort(
      input, [&shares](std::uint64_t) { return sort::Shares{.records = shares}; }, ranks_);
}

const CalibrationBench::Input& CalibrationBench::input_of(Inputs& inputs, const char* kind,
                                                          const std::vector<std::uint64_t>& shares,
                                                          std::uint64_t records) {
  if (const auto found = inputs.find(shares); found != inputs.end()) return found->second;
  const std::string& folder = options_.temp_directories.front();
  if (!output_) {
    io::inspect_space(folder, "temp directory");
    output_.emplace(folder, name_of("out") + std::to_string(ranks_.rank()));
  }
  // All ranks count alike.
  const std::string role = fmt::format("{}{}", kind, inputs.size());
  io::TempFile file(folder, name_of(role) + std::to_string(ranks_.rank()));
  const gen::RecordRange numbers = numbers_of(ranks_.rank(), records);
  std::uint64_t offset = 0;
  static_cast<void>(gen::generate(gen::Generator(gen::Form::kBinary, {}, numbers), numbers,
                                  [&](std::span<const std::byte> piece) {
                                    file.file().write_at(piece, offset);
                                    offset += piece.size();
                                  },
                                  {.threads = static_cast<unsigned>(options_.threads)}));
  // Else it would be written while its sort is timed.
  file.file().sync();
  return inputs.emplace(shares, Input{role, std::move(file)}).first->second;
}

std::string CalibrationBench::name_of(const std::string& role) const {
  // In a folder that several hosts see, no two ranks use one name.
  return fmt::format("hetsort-calibrate-{}-{}-", role, ranks_.host());
}

std::string CalibrationBench::path_for(const io::TempFile& file, const std::string& role, int ranks) const {
  std::string path = file.path();
  if (ranks == 1) return path;
  const std::string name = name_of(role);
  return path.replace(path.rfind(name) + name.size(), std::to_string(ranks_.rank()).size(), sort::kRankPlace);
}

double CalibrationBench::time_sort(const Input& input, const sort::PlanShares& shares, sort::Communicator& ranks) {
  sort::SortOptions options = options_;
  options.shares = shares;
  options.inputs = {path_for(input.file, input.role, ranks.size())};
  options.output = path_for(*output_, "out", ranks.size());
  // An output that stands there would have to be given back to the file system.
  std::filesystem::remove(output_->path());
  sort::Monitor monitor;
  sort::RankResult result;
  sort::sort_records(options, ranks, monitor, result);
  return monitor.seconds();
}

}  // namespace hetsort::cli
