// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorted runs of keys in memory, for tests of the selection with many ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sort/select/select_splitters.h"
#include "sort/select/sorted_runs.h"

namespace hetsort::sort::test {

/// A key of 8 bytes that compares as the number does.
inline std::string key_of(std::uint64_t number) {
  std::string key(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (56 - 8 * i));
  return key;
}

/// The runs of one rank. Every key is one memory access away, so that cuts are located cheaply.
class KeysInMemory : public SortedRuns {
 public:
  explicit KeysInMemory(std::vector<std::vector<std::uint64_t>> runs) : runs_(std::move(runs)) {
    for (std::vector<std::uint64_t>& run : runs_) std::ranges::sort(run);
  }
  KeysInMemory(const KeysInMemory& other) : KeysInMemory(other.runs_) {}
  KeysInMemory& operator=(const KeysInMemory&) = delete;
  ~KeysInMemory() override = default;

  std::size_t count() const override { return runs_.size(); }
  std::uint64_t records(std::size_t run) const override { return runs_[run].size(); }
  std::vector<RunMark> sample(std::size_t run, std::uint64_t first, std::uint64_t last, std::size_t count) override {
    const std::uint64_t taken = std::min<std::uint64_t>(count, last - first);
    std::vector<RunMark> marks;
    for (std::uint64_t i = 0; i < taken; ++i) {
      const std::uint64_t at = first + (last - first) * (2 * i + 1) / (2 * taken);
      marks.push_back({key(run, at), at});
    }
    return marks;
  }
  bool locates_cheaply() const override { return true; }
  std::string key(std::size_t run, std::uint64_t position) override { return key_of(runs_[run][position]); }
  std::uint64_t number(std::size_t run, std::uint64_t position) const { return runs_[run][position]; }

 private:
  std::vector<std::vector<std::uint64_t>> runs_;
};

/// The cuts of all runs, one behind the other, at each position of `targets` in the order of (key, run, position).
inline std::vector<Cut> cuts_of_keys(std::span<const KeysInMemory> ranks, std::span<const std::uint64_t> targets) {
  std::vector<std::pair<std::uint64_t, std::size_t>> all;  // key and number of the run
  std::size_t runs = 0;
  for (const KeysInMemory& rank : ranks)
    for (std::size_t run = 0; run < rank.count(); ++run, ++runs)
      for (std::uint64_t at = 0; at < rank.records(run); ++at) all.emplace_back(rank.number(run, at), runs);
  std::ranges::sort(all);
  std::vector<Cut> cuts;
  Cut before(runs, 0);
  std::uint64_t at = 0;
  for (const std::uint64_t target : targets) {
    for (; at < target; ++at) ++before[all[at].second];
    cuts.push_back(before);
  }
  return cuts;
}

}  // namespace hetsort::sort::test
