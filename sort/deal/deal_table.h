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
// A rank may be so slow that even its sending holds the others up. If they see its input, they read and index it
// again, where that takes less time. They then have its runs for the ranges that begin later.
// Cost: O(ranks) a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace hetsort::sort {

/// What a rank could do about another one that sends too slowly: read its part of a shared input itself.
struct Copying {
  std::uint64_t room = 0;     ///< records for which it has memory; 0 = it can't
  double record_seconds = 0;  ///< time to read and index a record
};

/// What a thread says when it needs a range.
struct RangeRequest {
  std::uint64_t merged = 0;  ///< records that it has merged by now, of all its ranges
  double busy_seconds = 0;   ///< time that this took, without waiting for blocks
  bool wants_range = true;   ///< false: it has its next range, and asks whether to copy runs
  Copying copying{};         ///< what its rank could do
  /// Rank whose blocks it has waited for the longest since its last request, and how long.
  std::uint64_t waited_for = 0;
  double waited_seconds = 0;
  double seconds = 0;  ///< moment at which the request arrived
};

struct RangeAnswer {
  enum class Kind : std::uint8_t {
    kRange,
    kCopy,   ///< this rank should copy the runs of a rank, then ask again
    kLater,  ///< there is nothing to copy, and other ranks would end the remaining ranges sooner, as far as is known:
             ///< ask again
    kNone,   ///< all ranges have begun
  };
  Kind kind = Kind::kNone;
  std::uint64_t number = 0;  ///< number of the range, or of the rank
};

class DealTable {
 public:
  struct Rank {
    std::uint64_t threads = 1;   ///< its first ranges have begun already, one a thread
    std::uint64_t ranges = 1;    ///< number of ranges of its share; at least `threads`
    std::uint64_t held = 0;      ///< records of its runs
    bool can_be_copied = false;  ///< other ranks may read its records again
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
    bool can_be_copied = false;
    bool is_copied = false;            // the other ranks are told to copy its runs
    std::vector<bool> knows_copied{};  // whether this rank was told to copy the runs of each rank
    std::set<std::size_t> copiers{};   // threads that copy runs
    Copying copying{};
    double awaited_seconds = 0;  // time that threads of other ranks have waited for its blocks
  };

  void note(OfRank& rank, std::size_t thread, const RangeRequest& request);
  static double rate(const OfRank& rank);
  static std::uint64_t merged(const OfRank& rank);
  double left_to_send(const OfRank& rank) const;
  double seconds_left(const OfRank& rank, std::uint64_t more) const;
  std::optional<double> seconds_of_others(std::size_t rank) const;
  bool is_too_slow(std::size_t rank) const;
  bool is_worth_copying(std::size_t rank, double pace) const;
  void judge(double seconds);
  std::optional<std::size_t> to_copy(std::size_t asking, std::size_t thread);
  std::optional<std::size_t> victim(std::size_t thief) const;
  RangeAnswer give(OfRank& to, OfRank& from, bool front);
  RangeAnswer at_random(std::size_t rank, bool wants_range);
  std::optional<std::size_t> copy_at_random(std::size_t asking);

  std::vector<OfRank> of_rank_;
  std::vector<std::uint64_t> records_;
  std::uint64_t total_ = 0;
  std::uint64_t unbegun_ = 0;  // number of ranges
  double judged_seconds_ = 0;  // when judge() looked last, and the records that had been merged
  std::uint64_t judged_done_ = 0;
  std::optional<std::size_t> suspect_;  // rank that should be copied, if judge() sees so again
  std::optional<std::mt19937_64> dice_;
};

}  // namespace hetsort::sort
