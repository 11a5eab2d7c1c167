// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/deal/deal_table.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hetsort::sort {

namespace {

// The work of sorting and sending a record, relative to that of receiving, merging and writing one.
constexpr double kSendWork = 0.7;

// Rates vary by a quarter between ranges of equal hosts. A range moves only if that gains clearly more.
constexpr double kMargin = 1.4;
constexpr double kMinGainSeconds = 0.03;

// A quota of processor time stops a host for some milliseconds at a time.
constexpr double kMinMeasuredSeconds = 0.01;

// The time after which it is judged again which rank the others wait for, and the part of that time that they must have
// waited. Quotas stop all hosts several times meanwhile.
constexpr double kJudgedSeconds = 0.2;
constexpr double kMostlyWaits = 0.5;

}  // namespace

DealTable::DealTable(const std::vector<Rank>& ranks, std::vector<std::uint64_t> records,
                     std::optional<std::uint64_t> seed)
    : records_(std::move(records)), total_(std::accumulate(records_.begin(), records_.end(), std::uint64_t{0})) {
  if (seed) dice_.emplace(*seed);
  std::uint64_t range = 0;
  for (const Rank& rank : ranks) {
    OfRank& of_rank = of_rank_.emplace_back();
    of_rank.first = range + rank.threads;
    of_rank.end = range + rank.ranges;
    of_rank.held = rank.held;
    of_rank.can_be_copied = rank.can_be_copied;
    of_rank.knows_copied.resize(ranks.size());
    of_rank.threads.resize(rank.threads);
    for (; range < of_rank.end; ++range) (range < of_rank.first ? of_rank.granted : of_rank.unbegun) += records_[range];
    unbegun_ += of_rank.end - of_rank.first;
  }
}

/// Takes the rate of the thread from what it did since it was measured last, unless that is too little.
void DealTable::note(OfRank& rank, std::size_t number, const RangeRequest& request) {
  Thread& thread = rank.threads[number];
  thread.merged = std::max(thread.merged, request.merged);
  if (request.waited_for < of_rank_.size()) of_rank_[request.waited_for].awaited_seconds += request.waited_seconds;
  rank.copying = request.copying;
  rank.copiers.erase(number);
  const double busy = request.busy_seconds - thread.measured.busy_seconds;
  if (request.merged <= thread.measured.merged || busy < kMinMeasuredSeconds) return;
  thread.rate = static_cast<double>(request.merged - thread.measured.merged) / busy;
  thread.measured = request;
}

std::uint64_t DealTable::merged(const OfRank& rank) {
  std::uint64_t sum = 0;
  for (const Thread& thread : rank.threads) sum += thread.merged;
  return std::min(sum, rank.granted);
}

/// Records a second of all threads of a rank; 0 = not known yet.
double DealTable::rate(const OfRank& rank) {
  double sum = 0;
  for (const Thread& thread : rank.threads) {
    if (!thread.rate) return 0;
    sum += *thread.rate;
  }
  return sum;
}

/// Records of its runs that a rank still has to sort and send, as if all ranges were alike.
double DealTable::left_to_send(const OfRank& rank) const {
  std::uint64_t done = 0;
  for (const OfRank& each : of_rank_) done += merged(each);
  return static_cast<double>(rank.held) * static_cast<double>(total_ - done) /
         static_cast<double>(std::max<std::uint64_t>(total_, 1));
}

/// Seconds until a rank has sent what it holds, and merged what it has begun and `more` records.
double DealTable::seconds_left(const OfRank& rank, std::uint64_t more) const {
  const auto to_merge = static_cast<double>(rank.granted - merged(rank) + more);
  return (kSendWork * left_to_send(rank) + to_merge) / rate(rank);
}

/// Seconds until the other ranks together have done their work and the ranges of this one that have not begun; nothing
/// if the rate of a rank is not known.
std::optional<double> DealTable::seconds_of_others(std::size_t number) const {
  auto work = static_cast<double>(of_rank_[number].unbegun);
  double rates = 0;
  for (std::size_t other = 0; other < of_rank_.size(); ++other) {
    const OfRank& of_other = of_rank_[other];
    const double speed = rate(of_other);
    if (speed == 0) return {};
    if (other == number || of_other.is_copied) continue;
    rates += speed;
    work += kSendWork * left_to_send(of_other) +
            static_cast<double>(of_other.granted - merged(of_other) + of_other.unbegun);
  }
  if (rates == 0) return {};
  return work / rates;
}

/// Whether the rank with one more range ends clearly later than the others with all other ranges and this one.
bool DealTable::is_too_slow(std::size_t number) const {
  const OfRank& rank = of_rank_[number];
  const std::optional<double> others = seconds_of_others(number);
  if (!others) return false;
  double fastest = 0;
  for (std::size_t other = 0; other < of_rank_.size(); ++other)
    if (other != number) fastest = std::max(fastest, rate(of_rank_[other]));
  const std::uint64_t range = records_[rank.first];
  return seconds_left(rank, range) > kMargin * (*others + static_cast<double>(range) / fastest) + kMinGainSeconds;
}

/// Whether the job ends clearly sooner if all other ranks copy the runs of this one. `pace`: records that all ranks
/// merge in a second as it is.
bool DealTable::is_worth_copying(std::size_t number, double pace) const {
  const OfRank& rank = of_rank_[number];
  const std::optional<double> others = seconds_of_others(number);
  if (!rank.can_be_copied || !others || rate(rank) == 0) return false;
  double copying = 0;
  double begun = 0;  // records that all ranks still merge in ranges that have begun, which need the rank as it is
  double left = 0;
  for (std::size_t other = 0; other < of_rank_.size(); ++other) {
    const OfRank& of_other = of_rank_[other];
    begun += static_cast<double>(of_other.granted - merged(of_other));
    left += static_cast<double>(of_other.granted - merged(of_other) + of_other.unbegun);
    if (other == number || of_other.is_copied) continue;
    if (of_other.copying.room < rank.held) return false;
    copying = std::max(copying, static_cast<double>(rank.held) * of_other.copying.record_seconds);
  }
  const double own = begun / pace + static_cast<double>(rank.granted - merged(rank)) / rate(rank);
  return left / pace > kMargin * std::max(own, copying + *others) + kMinGainSeconds;
}

/// Marks the rank that all others wait for, if its runs are worth copying. Looks once in a while, and marks what it
/// sees twice in a row: a host may pause for a moment.
void DealTable::judge(double seconds) {
  const double passed = seconds - judged_seconds_;
  if (passed < kJudgedSeconds) return;
  std::uint64_t done = 0;
  std::size_t threads = 0;
  for (const OfRank& rank : of_rank_) {
    done += merged(rank);
    threads += rank.is_copied ? 0 : rank.threads.size();
  }
  const double pace = std::max(static_cast<double>(done - judged_done_), 1.0) / passed;
  const auto awaited = std::ranges::max_element(of_rank_, {}, &OfRank::awaited_seconds);
  const auto waiting = static_cast<double>(threads - std::min(threads, awaited->threads.size()));
  const auto number = static_cast<std::size_t>(awaited - of_rank_.begin());
  const bool is_suspect = !awaited->is_copied && awaited->awaited_seconds >= kMostlyWaits * passed * waiting &&
                          is_worth_copying(number, pace);
  awaited->is_copied = awaited->is_copied || (is_suspect && suspect_ == number);
  suspect_ = is_suspect ? std::optional(number) : std::nullopt;
  for (OfRank& rank : of_rank_) rank.awaited_seconds = 0;
  judged_seconds_ = seconds;
  judged_done_ = done;
}

/// The rank whose runs this one should copy now.
std::optional<std::size_t> DealTable::to_copy(std::size_t asking, std::size_t thread) {
  OfRank& mine = of_rank_[asking];
  for (std::size_t rank = 0; rank < of_rank_.size() && !mine.is_copied; ++rank) {
    if (rank == asking || mine.knows_copied[rank] || !of_rank_[rank].is_copied) continue;
    mine.knows_copied[rank] = true;
    mine.copiers.insert(thread);
    return rank;
  }
  return {};
}

/// The rank that would end last, if it ends clearly later than the thief with its last range.
std::optional<std::size_t> DealTable::victim(std::size_t thief) const {
  std::optional<std::size_t> found;
  double latest = 0;
  for (std::size_t number = 0; number < of_rank_.size(); ++number) {
    const OfRank& rank = of_rank_[number];
    if (number == thief || rank.first == rank.end) continue;
    const double speed = rate(rank);
    const double left = speed == 0 ? 0 : seconds_left(rank, rank.unbegun);
    if (found && left <= latest) continue;
    found = number;
    latest = left;
  }
  if (!found || rate(of_rank_[thief]) == 0) return {};
  const std::uint64_t range = records_[of_rank_[*found].end - 1];
  if (latest < seconds_left(of_rank_[thief], range) + kMinGainSeconds) return {};
  return found;
}

RangeAnswer DealTable::give(OfRank& to, OfRank& from, bool front) {
  const std::uint64_t range = front ? from.first++ : --from.end;
  from.unbegun -= records_[range];
  to.granted += records_[range];
  --unbegun_;
  return {RangeAnswer::Kind::kRange, range};
}

std::optional<std::size_t> DealTable::copy_at_random(std::size_t asking) {
  OfRank& mine = of_rank_[asking];
  const std::size_t rank = (*dice_)() % of_rank_.size();
  const OfRank& other = of_rank_[rank];
  if (rank == asking || mine.knows_copied[rank] || !other.can_be_copied || mine.copying.room < other.held) return {};
  mine.knows_copied[rank] = true;
  return rank;
}

RangeAnswer DealTable::at_random(std::size_t rank, bool wants_range) {
  std::mt19937_64& dice = *dice_;
  if (dice() % 4 == 0) return {RangeAnswer::Kind::kLater};
  if (const std::optional<std::size_t> from = copy_at_random(rank)) return {RangeAnswer::Kind::kCopy, *from};
  if (!wants_range) return {RangeAnswer::Kind::kLater};
  std::size_t from = dice() % of_rank_.size();
  while (of_rank_[from].first == of_rank_[from].end) from = (from + 1) % of_rank_.size();
  return give(of_rank_[rank], of_rank_[from], dice() % 2 == 0);
}

RangeAnswer DealTable::next(std::size_t number, std::size_t thread, const RangeRequest& request) {
  OfRank& rank = of_rank_.at(number);
  note(rank, thread, request);
  if (unbegun_ == 0) return {};
  if (dice_) return at_random(number, request.wants_range);
  judge(request.seconds);
  if (const std::optional<std::size_t> from = to_copy(number, thread)) return {RangeAnswer::Kind::kCopy, *from};
  if (!request.wants_range) return {RangeAnswer::Kind::kLater};
  // If no thread has a range under way or copies runs, nobody would ever begin the rest.
  const bool is_idle = std::ranges::all_of(
      of_rank_, [&](const OfRank& each) { return merged(each) == each.granted && each.copiers.empty(); });
  if (rank.is_copied && !is_idle) return {RangeAnswer::Kind::kLater};
  if (rank.first < rank.end) {
    if (!is_idle && is_too_slow(number)) return {RangeAnswer::Kind::kLater};
    return give(rank, rank, true);
  }
  if (const std::optional<std::size_t> from = victim(number)) return give(rank, of_rank_[*from], false);
  return {RangeAnswer::Kind::kLater};
}

}  // namespace hetsort::sort
