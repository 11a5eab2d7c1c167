// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/verdict.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "io/checked.h"
#include "sort/select/selection_size.h"

namespace hetsort::sort {

namespace {

/// The bounds of a mark that are used to narrow a search.
struct Bounds {
  std::uint64_t fewest = 0;
  std::uint64_t most = 0;
};

/// Chooses brackets. The bounds of a mark add up the largest errors of all ranks. These errors are independent of each
/// other, so that their sum is usually as small as the square root of the number of ranks says.
class MarkBracketing {
 public:
  MarkBracketing(const OpenRecords& all, const Judgement& by)
      : marks_(all.summary.marks),
        records_(all.summary.records),
        is_certain_(by.is_certain),
        part_(1 / std::sqrt(static_cast<double>(std::max<std::uint64_t>(1, by.ranks)))),
        gap_(1 + all.summary.records / std::max<std::uint64_t>(1, by.most_marks)) {}

  /// The numbers of the last mark that is not behind `target`, plus one, and of the first mark that is. Requires:
  /// targets ascend from call to call.
  std::pair<std::size_t, std::size_t> around(std::uint64_t target) {
    while (low_ < marks_.size() && bounds(low_).most <= target) ++low_;
    std::size_t high = low_;
    while (high < marks_.size() && bounds(high).fewest <= target) ++high;
    return {low_, high};
  }

  /// The number of records between these two marks: certainly not more, or as an estimate.
  std::uint64_t records(std::size_t low, std::size_t high) const {
    const auto place = [&](std::size_t number, bool is_end) {
      const SummaryMark& mark = marks_[number];
      if (is_certain_) return is_end ? mark.most_before : mark.fewest_before;
      return mark.fewest_before + (mark.most_before - mark.fewest_before) / 2;
    };
    const std::uint64_t first = low > 0 ? place(low - 1, false) : 0;
    return (high < marks_.size() ? place(high, true) : records_) - first;
  }

 private:
  Bounds bounds(std::size_t number) const {
    const SummaryMark& mark = marks_[number];
    if (is_certain_) return {mark.fewest_before, mark.most_before};
    const std::uint64_t width = mark.most_before - mark.fewest_before;
    const std::uint64_t middle = mark.fewest_before + width / 2;
    const std::uint64_t error = std::min(width / 2, io::saturated(static_cast<double>(width) * part_) + gap_);
    return {middle - error, middle + error + width % 2};
  }

  const std::vector<SummaryMark>& marks_;
  std::uint64_t records_;
  bool is_certain_;
  double part_;        // usual error as a part of a mark's bounds
  std::uint64_t gap_;  // records between two marks: the error of a summary that was thinned
  std::size_t low_ = 0;
};

}  // namespace

std::vector<Verdict> judge(const OpenRecords& all, std::span<const std::uint64_t> targets, const Judgement& by) {
  const std::vector<SummaryMark>& marks = all.summary.marks;
  MarkBracketing bracketing(all, by);
  std::vector<Verdict> verdicts;
  std::pair<std::size_t, std::size_t> last{1, 0};  // the marks of the last open bracket; none yet
  const auto conclude = [&](Verdict verdict) {
    const bool continues = !verdicts.empty() && verdicts.back().kind == verdict.kind &&
                           verdict.kind != Verdict::Kind::kFound && verdict.kind != Verdict::Kind::kOpen;
    if (!continues) verdicts.push_back(std::move(verdict));
    ++verdicts.back().splitters;
  };
  for (const std::uint64_t position : targets) {
    if (position < all.records_before) {
      conclude({.kind = Verdict::Kind::kBelow});
      continue;
    }
    const std::uint64_t target = position - all.records_before;
    if (target >= all.summary.records) {
      conclude({.kind = target == all.summary.records ? Verdict::Kind::kEnd : Verdict::Kind::kAbove});
      continue;
    }
    const auto [low, high] = bracketing.around(target);
    if (low > 0 && marks[low - 1].fewest_before == target && marks[low - 1].most_before == target) {
      conclude({.kind = Verdict::Kind::kFound, .bracket = {marks[low - 1].mark, std::nullopt}});
      continue;
    }
    if (std::pair(low, high) == last) {
      ++verdicts.back().splitters;
      continue;
    }
    last = {low, high};
    Verdict open{.is_certain = by.is_certain, .takes_all = bracketing.records(low, high) <= kFewRecords};
    if (low > 0) open.bracket.low = marks[low - 1].mark;
    if (high < marks.size()) open.bracket.high = marks[high].mark;
    conclude(std::move(open));
  }
  return verdicts;
}

void pack(comm::Packer& packer, const Mark& mark) {
  packer.text(mark.key);
  packer.number(mark.run);
  packer.number(mark.position);
}

Mark unpack_mark(comm::Unpacker& unpacker) {
  Mark mark;
  mark.key = unpacker.text();
  mark.run = unpacker.number();
  mark.position = unpacker.number();
  return mark;
}

namespace {

void pack(comm::Packer& packer, const std::optional<Mark>& mark) {
  packer.value(static_cast<std::uint8_t>(mark.has_value()));
  if (mark) sort::pack(packer, *mark);
}

std::optional<Mark> unpack_optional(comm::Unpacker& unpacker) {
  if (unpacker.value<std::uint8_t>() == 0) return std::nullopt;
  return unpack_mark(unpacker);
}

}  // namespace

void pack(comm::Packer& packer, const std::vector<Verdict>& verdicts) {
  packer.number(verdicts.size());
  for (const Verdict& verdict : verdicts) {
    packer.value(verdict.kind);
    packer.number(verdict.splitters);
    packer.value(static_cast<std::uint8_t>(verdict.is_certain));
    packer.value(static_cast<std::uint8_t>(verdict.takes_all));
    pack(packer, verdict.bracket.low);
    pack(packer, verdict.bracket.high);
  }
}

std::vector<Verdict> unpack_verdicts(comm::Unpacker& unpacker) {
  constexpr std::size_t kMinVerdictBytes = sizeof(std::uint64_t) + 5;
  std::vector<Verdict> verdicts(unpacker.count(kMinVerdictBytes));
  for (Verdict& verdict : verdicts) {
    verdict.kind = unpacker.value<Verdict::Kind>();
    verdict.splitters = unpacker.number();
    verdict.is_certain = unpacker.value<std::uint8_t>() != 0;
    verdict.takes_all = unpacker.value<std::uint8_t>() != 0;
    verdict.bracket.low = unpack_optional(unpacker);
    verdict.bracket.high = unpack_optional(unpacker);
    if (verdict.kind > Verdict::Kind::kAbove || (verdict.kind == Verdict::Kind::kFound && !verdict.bracket.low))
      refuse_summaries();
  }
  return verdicts;
}

}  // namespace hetsort::sort
