// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports of runs, as `hetsort report` reads and shows them.
#include "cli/report/page.h"
#include "cli/report/text.h"
#include "job/report/json.h"
#include "tests/cli/report/sample.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

std::vector<std::string> seeds() {
  using hetsort::cli::test::sample_run;
  nlohmann::ordered_json failed = sample_run("equal", {"a"}, 1);
  failed["error"] = "rank 0 (a): write out: No space left on device";
  return {sample_run("lambert", {"a", "b"}, 2).dump(), failed.dump(),
          R"({"schema":"hetsort.compare/1","runs":[)" + sample_run("equal", {"a"}, 1).dump() + "]}"};
}

std::vector<std::string> words() {
  return {"\"schema\"",
          "\"hetsort.run/1\"",
          "\"hetsort.compare/1\"",
          "\"ranks\"",
          "\"phases\"",
          "\"begin\"",
          "\"end\"",
          "\"name\"",
          "\"context\"",
          "\"rounds\"",
          "\"runs\"",
          "[",
          "]",
          "{",
          "}",
          ",",
          "null",
          "\"\"",
          "\\u0000",
          "\xff",
          "<script>",
          "&amp;",
          "1e400",
          "-1",
          "[[[[[[[[[[[[[[[["};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  try {
    std::vector<job::RunReport> runs = job::read_runs(std::string(fuzz::test::text_of(data, size)), "fuzz.json");
    static_cast<void>(cli::text_timelines(runs));
    const cli::Report report(std::move(runs));
    const std::string page = cli::report_page(report, cli::no_pictures(report));
    fuzz::test::require(page.find("<script>alert") == std::string::npos, "text of a report became part of the page");
  } catch (const job::ReportError&) {
  }
  return 0;
}
