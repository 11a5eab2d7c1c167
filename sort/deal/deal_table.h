// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides which rank merges which range of the output when the ranks no longer have the speeds that they showed while
// runs were formed. Rank 0 has the table.
//
// In: a rank whose thread needs a range, and what the thread has merged so far. Out: the next range.
// Idea: each rank begins with ranges of its own share, and takes them from the front. A rank ends when it has sent its
// runs and merged its ranges, so its remaining work is both. Its speed is that of its threads while they had blocks to
// merge: a rank that waits for the blocks of a slow one is not slow. A rank that would end late without a further range
// does not get one, so that it has time to send. A rank without ranges takes the last one of the rank that would end
// last. Only ranges that have not begun move, so no record crosses the network twice.
// Cost: O(ranks) a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace hetsort::sort {

/// What a thread says when it needs a range.
struct RangeRequest {
  std::uint64_t merged = 0;  ///< records that it has merged by now, of all its ranges
  double busy_seconds = 0;   ///< time that this took, without waiting for blocks
};

struct RangeAnswer {
  enum class Kind : std::uint8_t {
    kRange,
    kLater,  ///< other ranks would end the remaining ranges sooner, as far as is known: ask again
    kNone,   ///< all ranges have begun
  };
  Kind kind = Kind::kNone;
  std::uint64_t range = 0;
};

class DealTable {
 public:
  struct Rank {
    std::uint64_t threads = 1;  ///< its first ranges have begun already, one a thread
    std::uint64_t ranges = 1;   ///< number of ranges of its share; at least `threads`
    std::uint64_t held = 0;     ///< records of its runs
  };

  /// `records`: records of each range, in the order of the output. `seed`: answer at random instead, for tests.
  DealTable(const std::vector<Rank>& ranks, std::vector<std::uint64_t> records, std::optional<std::uint64_t> seed = {});

  /// The next range for a thread of a rank.
  RangeAnswer next(std::size_t rank, std::size_t thread, const RangeRequest& request);

 private:
  struct Thread {
    std::uint64_t merged = 0;
    RangeRequest measured;       // the request at which its rate was measured
    std::optional<double> rate;  // records a second since the request before that one
  };
  struct OfRank {
    std::uint64_t first = 0;  // first range of its share that has not begun
    std::uint64_t end = 0;
    std::uint64_t held = 0;
    std::uint64_t unbegun = 0;  // records in its ranges that have not begun
    std::uint64_t granted = 0;  // records in all ranges that its threads have begun
    std::vector<Thread> threads{};
  };

  void note(OfRank& rank, std::size_t thread, const RangeRequest& request);
  static double rate(const OfRank& rank);
  static std::uint64_t merged(const OfRank& rank);
  double left_to_send(const OfRank& rank) const;
  double seconds_left(const OfRank& rank, std::uint64_t more) const;
  bool is_too_slow(std::size_t rank) const;
  std::optional<std::size_t> victim(std::size_t thief) const;
  RangeAnswer give(OfRank& to, OfRank& from, bool front);
  RangeAnswer at_random(std::size_t rank);

  std::vector<OfRank> of_rank_;
  std::vector<std::uint64_t> records_;
  std::uint64_t total_ = 0;
  std::uint64_t unbegun_ = 0;  // number of ranges
  std::optional<std::mt19937_64> dice_;
};

}  // namespace hetsort::sort
