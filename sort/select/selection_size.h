// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// How many marks the ranks send each other in a round of the splitter selection. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hetsort::sort {

/// What one round of the selection has to do.
struct SelectionRound {
  std::uint64_t ranks = 1;
  std::uint64_t searches = 1;   ///< disjoint intervals of records in which cuts still lie
  std::uint64_t splitters = 1;  ///< cuts in all of them
  std::size_t key_bytes = 0;    ///< bytes of every key; kAnyKeyBytes for lines
  bool takes_all = false;       ///< whether most searches have at most about kFewRecords records, all of them marks
};

/// If a search has so few records left, the next round ends it.
inline constexpr std::uint64_t kFewRecords = 256;

/// The summaries of one round.
struct SelectionSizes {
  std::uint64_t marks = 0;      ///< maximum marks of a search in a message
  std::uint64_t own_marks = 0;  ///< marks of a search that suffice from one rank if all ranks locate cuts exactly
  std::uint64_t searches_a_message = 0;  ///< searches whose summaries travel together
  std::uint64_t messages = 0;            ///< reductions of the round, one after the other
  std::uint64_t message_bytes = 0;       ///< maximum bytes of a message
};

/// Sizes of a round that looks for exact cuts.
SelectionSizes exact_round(const SelectionRound& round);

/// The messages with which a rank divides its parts into ranges of about equal sizes.
struct DivisionSizes {
  std::uint64_t marks = 0;          ///< maximum marks of a part after the summaries of all ranks are merged
  std::uint64_t own_marks = 0;      ///< marks of a part that suffice from one rank
  std::uint64_t summary_bytes = 0;  ///< maximum bytes of the message from each other rank
  std::uint64_t border_bytes = 0;   ///< maximum bytes of the answer to each of them
};

/// `round`: the parts of the rank as searches, and all ranges of these as splitters.
DivisionSizes division_sizes(const SelectionRound& round);

}  // namespace hetsort::sort
