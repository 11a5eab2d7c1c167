// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report/csv.h"

#include "cli/terminal/csv.h"

namespace hetsort::cli {

std::string runs_csv(const std::vector<job::RunReport>& runs) {
  std::string text = csv_line({"file", "round", "strategy", "records", "seconds", "predicted_seconds", "rank", "host",
                               "planned_input_records", "planned_output_records", "input_records", "output_records",
                               "form_seconds", "exchange_seconds", "finish"});
  for (const job::RunReport& run : runs)
    for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
      const job::RankReport& one = run.ranks[rank];
      const CsvValue round = run.round ? CsvValue(*run.round) : CsvValue("");
      text += csv_line({run.file, round, run.strategy, run.records, run.seconds, run.predicted_seconds, rank, one.host,
                        one.planned_input_records, one.planned_output_records, one.input_records, one.output_records,
                        one.worked_in({"form_runs"}), one.worked_in({"exchange", "merge_runs"}), one.work_end()});
    }
  return text;
}

}  // namespace hetsort::cli
