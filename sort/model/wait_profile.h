// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How long, and when, a rank waited for other ranks during a phase.
//
// Idea: the phase is divided into a few slices of equal length, each with the time that the rank waited in it. When a
// phase outgrows its slices, two neighbours become one. So a profile has the same small size for a phase of any length.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

namespace hetsort::sort {

/// A stretch of time and the part of it that the rank waited: 1 if all its threads did.
struct WaitSpan {
  double begin = 0;
  double end = 0;
  double part = 0;
};

/// How long a rank waited for the blocks of another one.
struct WaitForRank {
  int rank = 0;
  double seconds = 0;
};

/// Thread safety: one thread at a time.
class WaitProfile {
 public:
  /// `begin`: the begin of the phase.
  explicit WaitProfile(double begin) : begin_(begin) {}

  /// Adds a wait of this part of the rank. `rank`: the rank whose blocks were waited for; negative = not known. What
  /// lies before the phase does not count.
  void add(double begin, double end, double part, int rank);

  double seconds() const;
  /// The stretches in which the rank waited, up to the end of the phase.
  std::vector<WaitSpan> spans(double phase_end) const;
  /// The ranks that were waited for the longest, at most kMaxRanks, the longest first.
  std::vector<WaitForRank> ranks() const;

  static constexpr std::size_t kMaxRanks = 4;

 private:
  static constexpr std::size_t kSlices = 32;

  double begin_;
  double slice_seconds_ = 1.0 / 1024;
  std::vector<double> slices_ = std::vector<double>(kSlices, 0.0);  // seconds waited in each
  std::map<int, double> of_rank_;
};

inline void WaitProfile::add(double begin, double end, double part, int rank) {
  begin = std::max(begin, begin_);
  if (!(end > begin)) return;
  if (rank >= 0) of_rank_[rank] += (end - begin) * part;
  while (end - begin_ > slice_seconds_ * kSlices) {
    for (std::size_t i = 0; i < kSlices; ++i) slices_[i] = 2 * i < kSlices ? slices_[2 * i] + slices_[2 * i + 1] : 0.0;
    slice_seconds_ *= 2;
  }
  const auto first = static_cast<std::size_t>((begin - begin_) / slice_seconds_);
  for (std::size_t i = first; i < kSlices; ++i) {
    const double slice = begin_ + static_cast<double>(i) * slice_seconds_;
    if (slice >= end) break;
    slices_[i] += part * std::max(0.0, std::min(end, slice + slice_seconds_) - std::max(begin, slice));
  }
}

inline double WaitProfile::seconds() const { return std::accumulate(slices_.begin(), slices_.end(), 0.0); }

inline std::vector<WaitSpan> WaitProfile::spans(double phase_end) const {
  constexpr double kSteps = 8;  // parts differ by an eighth, so that neighbours become one span
  std::vector<WaitSpan> found;
  for (std::size_t i = 0; i < kSlices; ++i) {
    const double begin = begin_ + static_cast<double>(i) * slice_seconds_;
    const double end = std::min(begin_ + static_cast<double>(i + 1) * slice_seconds_, phase_end);
    if (!(end > begin)) break;
    const double part = std::min(1.0, std::round(slices_[i] / (end - begin) * kSteps) / kSteps);
    if (part == 0) continue;
    if (!found.empty() && found.back().end == begin && found.back().part == part)
      found.back().end = end;
    else
      found.push_back({begin, end, part});
  }
  return found;
}

inline std::vector<WaitForRank> WaitProfile::ranks() const {
  std::vector<WaitForRank> found;
  for (const auto& [rank, seconds] : of_rank_) found.push_back({rank, seconds});
  std::ranges::stable_sort(found, [](const WaitForRank& a, const WaitForRank& b) { return a.seconds > b.seconds; });
  found.resize(std::min(found.size(), kMaxRanks));
  return found;
}

}  // namespace hetsort::sort
