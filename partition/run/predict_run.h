// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The model of a whole run: how long each phase takes, and which resource bounds each rank.
//
// Rank i reads a_i of N records and ends with b_i. A record has R bytes, and s_i of the a_i do not fit memory. The part
// c_i of its input is in the page cache when the run begins. Within a phase, the resources of a rank work in parallel,
// so the slowest one counts; uses of the same resource add up:
//   form_i     = max( processor: sort_i(a_i);   disk: R (1 - c_i) a_i / read + R s_i / write )
//   exchange_i = max( link out: R a_i (1 - b_i/N) / out;   link in: R b_i (1 - a_i/N) / in;
//                     processor: merge b_i + message_out R a_i (1 - b_i/N) + message_in R b_i (1 - a_i/N);
//                     disk: R s_i / read + R b_i / write )
//   run        = start + max_i form_i + select + max_i exchange_i + publish
// Ranks of one host share its link and its disk: there a_i, (1 - c_i) a_i, b_i and s_i are sums over the host, and
// records that stay on a host do not use the link. They share the processors, too: the costs of a rank's processor are
// those that it has while all ranks of its host are busy. A link or a disk that all hosts share bounds all of them. If
// the run does not sync its output, R b_i / write and publish are 0: the system writes the output after the run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "run_model.h"

namespace hetsort::partition {

/// The resource that takes the longest in a phase. kMemory: the disk, and only because records do not fit memory.
enum class Resource { kNone, kProcessor, kLinkOut, kLinkIn, kDisk, kMemory, kSharedLink, kSharedDisk };

/// "processor", "link out", ...; "nothing" for kNone.
std::string_view resource_name(Resource resource);
/// The resource of that name; kNone if there is none.
Resource resource_named(std::string_view name);

struct PhaseTime {
  double seconds = 0;
  Resource bound = Resource::kNone;
};

struct RunPrediction {
  double seconds = 0;           ///< time of the whole run
  double start_seconds = 0;     ///< time before the first phase
  double form_seconds = 0;      ///< time until the last rank has formed its runs
  double exchange_seconds = 0;  ///< time of the last rank
  std::vector<PhaseTime> form;  ///< times of each rank
  std::vector<PhaseTime> exchange;
  std::vector<std::string_view> unlimited{};  ///< resources for which the model has no rate, so that they bound no rank
};

/// The run in which rank i reads input[i] records and ends with output[i].
/// Requires: a valid model; one number >= 0 for each rank; both sums are equal. Complexity: O(ranks).
RunPrediction predict_run(const RunModel& model, std::span<const std::int64_t> input,
                          std::span<const std::int64_t> output);

}  // namespace hetsort::partition
