// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What rank 0 concludes from a summary of all ranks' records about the cuts among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/base/packing.h"
#include "sort/select/quantile_summary.h"
#include "sort/select/run_summary.h"

namespace hetsort::sort {

/// A conclusion about consecutive splitters of one search.
struct Verdict {
  enum class Kind : std::uint8_t {
    kFound,  ///< the cut is before bracket.low
    kEnd,    ///< the cut is at the end of the search
    kOpen,   ///< the cut is within the bracket, or likely to be
    kBelow,  ///< the cut is before the search
    kAbove,  ///< the cut is behind the end of the search
  };

  Kind kind = Kind::kOpen;
  std::uint64_t splitters = 0;  ///< number of splitters, which follow those of the previous verdict
  bool is_certain = true;       ///< whether the cut is certainly within the bracket
  bool takes_all = false;       ///< whether so few records are left that the next round may look at each of them
  MarkBracket bracket{};
};

/// Who summarised, and how a bracket is chosen.
struct Judgement {
  std::uint64_t ranks = 1;
  std::uint64_t most_marks = 0;  ///< maximum marks of the summary
  bool is_certain = true;        ///< brackets must contain the cut; otherwise they are as narrow as usual errors allow
};

/// Judges the splitters at positions `targets` of the output, which ascend.
std::vector<Verdict> judge(const OpenRecords& all, std::span<const std::uint64_t> targets, const Judgement& by);

void pack(comm::Packer& packer, const std::vector<Verdict>& verdicts);
/// Throws: std::runtime_error for bytes that are no verdicts.
std::vector<Verdict> unpack_verdicts(comm::Unpacker& unpacker);

void pack(comm::Packer& packer, const Mark& mark);
Mark unpack_mark(comm::Unpacker& unpacker);

}  // namespace hetsort::sort
