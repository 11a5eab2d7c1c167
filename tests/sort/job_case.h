// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// A job of several ranks, drawn from a seed, for the suites about which rank reads which part of the input: its files
// and its options. Runs in one process and under mpirun (tests/comm/harness.h).
#pragma once

#include <sstream>

#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {

struct JobCase {
  InputRequest input;
  int ranks = 1;
  comm::ExchangeMode mode = comm::ExchangeMode::kThread;
  bool ample_memory = true;
  std::size_t threads = 1;
};

inline std::string describe_job(const JobCase& job) {
  std::ostringstream text;
  text << name_of(job.input.distribution) << ", " << job.input.records << " records of "
       << job.input.layout.record_bytes << " bytes, key " << key_text(job.input.layout) << ", " << job.ranks
       << " ranks, mode " << name_of(job.mode) << ", " << (job.ample_memory ? "ample" : "tight") << " memory, "
       << job.threads << " threads";
  return text.str();
}

/// Draws everything except the mode, which each suite chooses.
inline void draw_job(Dice& dice, JobCase& job) {
  job.ranks = ranks_for(static_cast<int>(1 + dice.number() % 8));
  RecordLayout& layout = job.input.layout;
  layout.record_bytes = dice.one_of<std::size_t>({16, 100, 100, 257, 5000});
  layout.key_bytes = dice.one_of<std::size_t>({3, 10, 10, 14});
  job.input.distribution = dice.one_of(kDistributions);
  job.input.records = dice.one_of<std::size_t>({0, 1, 7, 1000, 1000, 30'000}) * 100 / layout.record_bytes;
  job.input.seed = dice.number();
  job.ample_memory = dice.number() % 3 != 0;
  job.threads = dice.one_of<std::size_t>({1, 1, 2, 3});
  if (dice.number() % 3 == 0) layout = draw_typed_layout(dice, layout.record_bytes);
}

/// The records of a job and the folder of its files. Only the process of rank 0 has them.
class JobFolder {
 public:
  explicit JobFolder(const JobCase& job)
      : layout_(job.input.layout),
        records_(make_records(job.input)),
        folder_(job.input.seed % 2 == 0 ? io::test::memory_folder() : std::filesystem::temp_directory_path().string()) {
  }

  std::span<const std::byte> records() const { return records_; }
  void write_input(const std::string& name, std::span<const std::byte> bytes) {
    write_bytes(folder_ / name, bytes);
    ++inputs_;
  }

  /// Expects the right "out" beside the inputs, and no other file.
  void judge() const {
    EXPECT_TRUE(is_sorted_form(read_bytes(folder_ / "out"), records_, layout_));
    EXPECT_EQ(folder_.names().size(), inputs_ + 1);
  }
  void expect_only_inputs() const { EXPECT_EQ(folder_.names().size(), inputs_); }

  const std::string& path() const { return folder_.path(); }

 private:
  RecordLayout layout_;
  Bytes records_;
  Scratch folder_;
  std::size_t inputs_ = 0;
};

/// The options of a sort to "out" in the folder, without inputs.
inline SortOptions job_options(const JobCase& job, const std::string& folder) {
  SortOptions options = sort_of_files({}, folder + "/out", job.input.layout);
  options.spill.directories = {std::filesystem::temp_directory_path().string()};
  options.threads = job.threads;
  options.memory_bytes = floor_memory(options.layout, options.threads);
  if (job.ample_memory) options.memory_bytes += std::uint64_t{512} << 20;
  options.output.sync = false;
  return options;
}

/// How messages are delivered where ranks are threads.
inline machinery::InProcessOptions job_messages(const JobCase& job) {
  machinery::InProcessOptions in_process;
  in_process.communicator.mode = job.mode;
  in_process.longest_delay_microseconds = 50;
  in_process.ranks_per_host = static_cast<int>(1 + job.input.seed % 3);
  return in_process;
}

}  // namespace hetsort::sort::test
