// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller asks of a job, as typed values. The command line and the library fill these; nothing here has been
// checked against files, ranks or the machine. sort_job.h makes of it what a rank does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/base/launch_environment.h"
#include "comm/base/types.h"
#include "io/transfer/access.h"
#include "order/lines/line_options.h"
#include "sort/model/record_order.h"
#include "sort/model/sort_options.h"

namespace hetsort::job {

/// Records of a fixed size, and the keys inside.
struct RecordRequest {
  std::optional<std::uint64_t> record_bytes{};  ///< none = 100
  std::vector<sort::KeyField> keys{};           ///< most significant first; none = 10 bytes, or the whole record
  std::vector<std::string> key_names{};         ///< fields of NumPy files, ":desc" behind them; excludes `keys`
  bool reverse = false;                         ///< reverse the order of every key; also for lines
  std::uint64_t header_bytes = 0;               ///< bytes at the start of each input that are not records
  bool force_format = false;                    ///< no input is refused because of what it begins with; also for lines
  bool decompress = true;                       ///< compressed inputs are read as what they hold; also for lines
};

/// Lines of text, if `lines` is set. The fields are those of sort(1).
struct LineRequest {
  bool lines = false;                  ///< the inputs are lines; the other fields do not count without it
  std::vector<order::LineKey> keys{};  ///< most significant first; none = the whole line
  std::optional<char> separator{};     ///< what separates fields; none = they begin where blanks do
  bool zero_terminated = false;        ///< a zero byte ends a line, not a newline
  std::string orderings{};             ///< letters of bdfghiMnRV that hold for keys without own ones
  std::optional<std::uint64_t>
      header_lines{};                 ///< lines at the start of each input that stay on top; none = 0, of CSV 1
  std::optional<char> comment{};      ///< or those in front that begin with it
  std::optional<char> csv{};          ///< the lines are rows of CSV, with this separator unless `separator` is given
  std::optional<bool> empty_first{};  ///< empty values of CSV come first; none = last
  std::string order_list{};           ///< a file with words in the order in which the first key has them
  std::string random_source{};        ///< a file whose first bytes decide random orders; empty = the system's
};

/// What a job may use of each machine.
struct ResourceRequest {
  std::optional<std::uint64_t>
      memory_bytes{};                    ///< memory of each rank; none = three quarters of what the system would give
  std::optional<std::size_t> threads{};  ///< threads of each rank; none = as many as processors
  /// Folders for what spills; {rank} is the rank's number. Default: see resources.h.
  std::vector<std::string> temp_directories{};
};

/// How the ranks share records.
struct ShareRequest {
  std::string strategy{};               ///< empty = the usual one for what is known, see strategy_choice.h
  std::vector<double> speeds{};         ///< relative, of the ranks; excludes a cluster file
  std::string cluster_path{};           ///< empty = none
  std::vector<std::uint64_t> shares{};  ///< records of each rank, for the strategy `given`
  std::string plan_path{};              ///< file with such records, as plans are printed in JSON; empty = none
  std::string learn_path{};             ///< curves of earlier sorts, which this one adds to; empty = none
};

/// The ranks of a job and how they talk.
struct RankRequest {
  comm::MpiUse mpi = comm::MpiUse::kAuto;
  double stall_timeout_seconds = 60;  ///< a rank that is silent for so long ends the job
  std::string advice{};               ///< what the user can do after ranks have died; messages about that end with it
  /// Which threads communicate. A thread of its own costs a processor, and keeps the others from waiting for messages.
  comm::ExchangeMode exchange = comm::ExchangeMode::kThread;
};
comm::CommunicatorOptions communication_of(const RankRequest& request);

struct SortRequest {
  /// What the phases take as it is: fields of it need nothing between the table of options and the phase. Other fields
  /// of this request decide its layout, header, content, memory, threads, temporary folders and shares.
  sort::SortOptions phases{};

  std::string names_path{};  ///< a file with the names of the inputs, each ended by a zero byte; empty = none
  RecordRequest records{};
  LineRequest lines{};
  bool stable = false;  ///< equal lines keep the order of the input; records always do
  ResourceRequest resources{};
  ShareRequest shares{};
  RankRequest ranks{};
  std::string report_path{};  ///< file of rank 0 for the report; empty = none
  std::string trace_path{};   ///< file of rank 0 for what each thread did; empty = none
};

}  // namespace hetsort::job
