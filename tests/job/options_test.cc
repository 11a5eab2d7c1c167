// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of options, as the library uses them: by names.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "io/field.h"
#include "job/options/record_options.h"
#include "job/plan/plan_request.h"
#include "job/request/request_error.h"
#include "job/sort_job.h"
#include "job/sort_options.h"
#include "order/key_types.h"

namespace hetsort::job::test {
namespace {

struct Sort {
  SortRequest request;
  Options options;

  Sort() { add_one_sort_options(options, request); }
};

std::string refusal(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const RequestError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Options, fill_the_fields_of_a_request) {
  Sort sort;
  sort.options.set("output", "a");
  sort.options.set("output", "b");
  sort.options.set("buffer-size", "4M");
  sort.options.set("root_input", "");
  sort.options.set("no-sync", "");
  sort.options.set("key", "8:f64:desc");
  sort.options.set("exchange", "threads");
  EXPECT_EQ(sort.request.phases.output.paths, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sort.request.resources.memory_bytes, std::uint64_t{4} << 20);
  EXPECT_TRUE(sort.request.phases.input.root_only && !sort.request.phases.output.sync);
  ASSERT_EQ(sort.request.records.keys.size(), 1U);
  EXPECT_TRUE(sort.request.records.keys.front().descending);
  EXPECT_EQ(sort.request.ranks.exchange, comm::ExchangeMode::kThreads);
}

TEST(Options, messages_name_fields_by_their_names) {
  Sort sort;
  EXPECT_EQ(refusal([&] { sort.options.set("frobnicate", ""); }), "unknown option 'frobnicate'");
  EXPECT_EQ(refusal([&] { sort.options.set("threads", "0"); }), "'threads' wants 1 to 1024, not 0");
  EXPECT_EQ(refusal([&] { sort.options.set("io", "slow"); }), "'io' 'slow' is none of auto, uring, threads, buffered");
  EXPECT_EQ(refusal([&] { sort.options.set("root-input", "1"); }), "option 'root_input' takes no value");
}

TEST(Options, that_are_given_twice_have_the_last_value) {
  Sort sort;
  sort.options.set("threads", "1");
  sort.options.set("threads", "2");
  sort.options.set("unique", "");
  sort.options.set("unique", "");
  EXPECT_EQ(sort.request.resources.threads, 2U);
  EXPECT_TRUE(sort.request.phases.output.unique);
}

TEST(Options, that_exclude_each_other_are_refused) {
  Sort sort;
  sort.options.set("unique", "");
  sort.options.check_exclusions();
  sort.options.set("verify-output", "");
  EXPECT_EQ(refusal([&] { sort.options.check_exclusions(); }),
            "'verify_output' compares all records with those written: it excludes 'unique'");
  Sort other;
  other.options.set("speeds", "1,2");
  other.options.set("cluster", "c.toml");
  EXPECT_EQ(refusal([&] { other.options.check_exclusions(); }), "'speeds' and 'cluster' exclude each other");
}

TEST(Options, of_one_rank_need_not_agree) {
  Sort sort;
  for (const char* const name : {"memory", "temp", "threads"}) sort.options.set(name, "1");
  sort.options.set("io", "auto");
  EXPECT_TRUE(sort.options.shared().empty());
  sort.options.set("unique", "");
  ASSERT_EQ(sort.options.shared().size(), 1U);
  EXPECT_EQ(sort.options.shared().front().name, "unique");
}

TEST(Options, have_unique_names_and_letters_and_exclude_what_there_is) {
  Sort sort;
  PlanRequest plan;
  Options of_plan;
  add_plan_options(of_plan, plan, "a name");
  for (const Options* const options : {&sort.options, &of_plan}) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const Option& option : options->all()) {
      EXPECT_TRUE(names.insert(option.id()).second) << option.id();
      EXPECT_TRUE(option.synonym.empty() || names.insert(option.synonym).second) << option.synonym;
      EXPECT_TRUE(option.letter == '\0' || letters.insert(option.letter).second) << option.letter;
      EXPECT_TRUE(option.fill) << option.id();
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.id();
      for (const Exclusion& exclusion : option.excludes)
        EXPECT_NE(options->find(exclusion.other), nullptr) << option.id() << " excludes " << exclusion.other;
    }
  }
}

TEST(RecordOptions, name_types_of_numbers_as_reports_do) {
  std::string types;
  for (const order::KeyType& type : order::kKeyTypes) {
    types += " " + std::string(type.name);
    for (const std::string& key : {fmt::format("0:{}", type.name), fmt::format("8:{}be:desc", type.name)})
      EXPECT_EQ(order::key_text(parse_key(key, "")), key);
  }
  EXPECT_EQ(refusal([&] { parse_key("0:f8", "key"); }),
            fmt::format("key '0:f8': 'f8' is neither a length in bytes nor a "
                        "type; types are{}, with 'be' appended if they are big-endian",
                        types));
}

TEST(SortJob, has_all_that_the_request_says_to_the_phases) {
  SortRequest request;
  request.phases.input.paths = {"in"};
  request.phases.input.min_claim_bytes = 5;
  request.phases.output.owner_only = true;
  request.phases.spill.max_merged_runs = 7;
  request.phases.access = io::Access::kBuffered;
  request.phases.hooks.block_bytes = 9;
  const SortJob job = sort_job_of(request);
  EXPECT_EQ(job.options.input.min_claim_bytes, 5U);
  EXPECT_TRUE(job.options.output.owner_only);
  EXPECT_EQ(job.options.spill.max_merged_runs, 7U);
  EXPECT_EQ(job.options.access, io::Access::kBuffered);
  EXPECT_EQ(job.options.hooks.block_bytes, 9U);
}

TEST(SortJob, is_what_the_request_says) {
  SortRequest request;
  request.phases.input.paths = {"in"};
  request.phases.output.unique = true;
  request.records.record_bytes = 8;
  request.records.header_bytes = 128;
  SortJob job = sort_job_of(request);
  EXPECT_EQ(job.options.output.paths, std::vector<std::string>{"-"});
  EXPECT_EQ(job.options.layout.key_bytes, 8U);
  EXPECT_EQ(job.options.input.header.bytes, 128U);
  EXPECT_TRUE(job.options.output.unique);
  request.phases.output.paths = {"a", "b"};
  EXPECT_EQ(refusal([&] { sort_job_of(request); }),
            "'unique' writes one OUTPUT from front to back, and 'b' is a second one");
  request.phases.output.paths = {"a"};
  request.shares.strategy = "learned";
  EXPECT_EQ(refusal([&] { sort_job_of(request); }), "'strategy' learned needs 'learn' FILE, which sort has");
  request.shares.strategy.clear();
  request.records.keys = {{.offset = 4, .bytes = 8}};
  EXPECT_EQ(refusal([&] { sort_job_of(request); }), "key 4:8 reaches beyond the 8-byte record");
}

}  // namespace
}  // namespace hetsort::job::test
