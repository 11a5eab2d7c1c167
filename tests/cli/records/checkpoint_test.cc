// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts with a checkpoint as users meet them: killed at random moments and continued, ended by the signals of batch
// systems, and looked at. HETSORT_TEST_RESUMES sets how many sorts are killed.
#include <random>
#include <string>

#include "tests/cli/program.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

using hetsort::test::case_seed;
using hetsort::test::environment_number;
using hetsort::test::seed_note;

// Calls are slow, so that most moments fall into the work.
constexpr const char* kSlow = "HETSORT_FAULTS=read:~2:delay10,write:~2:delay10,sync:~1:delay10 ";

TEST(SortWithCheckpoint, that_is_killed_is_continued_by_the_same_command) {
  const Shell shell;
  SCOPED_TRACE(seed_note());
  shell.run("mkdir ck && $H gen 30000 in && $H sort in -o records && $H sort --lines in -o lines");
  const std::uint64_t count = environment_number("HETSORT_TEST_RESUMES", hetsort::test::kSanitized ? 2 : 6);
  int kills = 0;
  for (std::uint64_t number = 0; number < count; ++number) {
    std::mt19937_64 random(case_seed(number));
    const bool lines = random() % 2 == 0;
    const std::string sort = std::string("$H sort -q --checkpoint ck ") + (lines ? "--lines " : "");
    SCOPED_TRACE("sort number " + std::to_string(number));
    for (std::uint64_t kill = 1 + random() % 3; kill > 0; --kill) {
      const Outcome ended =
          shell.run("export " + std::string(kSlow) + "; timeout -s KILL 0." + std::to_string(100 + random() % 900) +
                    " " + sort + (random() % 2 == 0 ? "-S 1M -j 1 " : "-S 2M -j 2 ") + "in -o out");
      EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 137) << ended;
      kills += ended.exit_code == 137 ? 1 : 0;
    }
    EXPECT_EQ(shell.run(sort + "-S 2M in -o out").exit_code, 0);
    EXPECT_EQ(shell.run(std::string("cmp out ") + (lines ? "lines" : "records") + " && ls -A ck").out, "");
    EXPECT_EQ(shell.names(), (Names{"ck", "in", "lines", "out", "records"}));
    shell.run("rm out");
  }
  std::printf("%d of the runs of %d sorts were killed\n", kills, static_cast<int>(count));
}

TEST(SortWithCheckpoint, tells_batch_systems_to_start_it_again) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in && $H sort in -o expected");
  for (const std::string signal : {"TERM", "USR1"}) {
    const std::string sort = "$H sort -q --checkpoint ck -S 1M in -o 'my out'";
    const Outcome ended = shell.run("export " + std::string(kSlow) + "; " + sort +
                                    " & P=$!\nfor i in $(seq 500); do [ -s ck/hetsort.0.runs.0 ] && break; sleep 0.01; "
                                    "done; sleep 0.1; kill -" +
                                    signal + " $P\nwait $P");
    EXPECT_EQ(ended.exit_code, 75) << ended;
    EXPECT_NE(ended.err.find("output untouched; continue with: "), std::string::npos) << ended;
    EXPECT_NE(ended.err.find("sort -q --checkpoint ck -S 1M in -o 'my out'\n"), std::string::npos) << ended;
    EXPECT_EQ(shell.run("$H checkpoint ck | grep -c 'the same command continues'").out, "1\n");
    EXPECT_EQ(shell.run(sort + " && cmp 'my out' expected").exit_code, 0);
  }
  const Outcome without = shell.run("export " + std::string(kSlow) +
                                    "; $H sort -q -T . -S 1M in -o out & P=$!\nsleep 0.3\nkill -TERM $P\nwait $P");
  EXPECT_EQ(without.exit_code, 128 + 15) << "a sort that cannot continue is not worth a requeue";
}

TEST(SortWithCheckpoint, that_fails_names_the_way_on) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in");
  EXPECT_TRUE(failed_with(shell.run("HETSORT_FAULTS=sync:4:EIO $H sort --checkpoint ck -S 1M in -o out"),
                          "output untouched; continue with: hetsort sort --checkpoint ck -S 1M in -o out\n"));
  EXPECT_TRUE(failed_with(shell.run("$H sort --checkpoint ck --key 5:5 in -o out"), "the layout of records changed"));
  EXPECT_TRUE(failed_with(shell.run("$H sort --checkpoint missing in -o out"), "missing"));
  EXPECT_TRUE(failed_with(shell.run("$H sort --restart in -o out"), "name its folder with --checkpoint"));
  EXPECT_TRUE(failed_with(shell.run("$H sort --checkpoint ck -T . in -o out"), "it excludes -T"));
  EXPECT_TRUE(failed_with(shell.run("$H sort --checkpoint ck -R --lines in -o out"), "--random-source"));
}

TEST(FolderOfCheckpoint, that_is_removed_while_the_sort_runs_changes_no_output) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in && $H sort in -o expected");
  const Outcome ended =
      shell.run("export " + std::string(kSlow) +
                "; $H sort -q --checkpoint ck -S 1M in -o out & P=$!\nfor i in $(seq 500); do [ -e "
                "ck/hetsort.0.runs.0 ] && break; sleep 0.01; done; rm -r ck; wait $P && cmp out expected");
  EXPECT_EQ(ended.exit_code, 0) << ended;
  EXPECT_EQ(ended.err, "");
}

TEST(FolderOfCheckpoint, on_another_file_system_than_the_output_serves) {
  const Shell shell;
  const std::string sort = "$H sort -q --checkpoint $D -S 1M in -o out";
  const Outcome done = shell.run(
      "D=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d -p .); trap 'rm -rf $D' EXIT; $H gen 30000 in && $H sort in "
      "-o "
      "expected; HETSORT_FAULTS=sync:9:EIO " +
      sort + " 2>first; grep -c 'continue with' first; " + sort + " && cmp out expected && ls -A $D");
  EXPECT_EQ(done.exit_code, 0) << done;
  EXPECT_EQ(done.out, "1\n");
}

TEST(FolderOfCheckpoint, on_a_full_disk_gives_one_error_and_continues) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in && $H sort in -o expected");
  const std::string sort = "$H sort -q --checkpoint ck -S 1M in -o out";
  for (const char* fault : {"write:1:ENOSPC", "write:9+:ENOSPC", "allocate:1+:ENOSPC", "sync:5:ENOSPC"}) {
    const Outcome full = shell.run("HETSORT_FAULTS=" + std::string(fault) + " " + sort);
    EXPECT_TRUE(full.exit_code == 0 || failed_with(full, "No space left on device")) << fault << ": " << full;
    EXPECT_EQ(shell.run(sort + " && cmp out expected && rm out && ls -A ck").out, "") << fault;
  }
}

TEST(SortWithCheckpoint, continues_if_the_clock_was_set_back) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in && $H sort in -o expected && touch -d '2 days' in");
  EXPECT_EQ(shell.run("HETSORT_FAULTS=sync:9:EIO $H sort -q --checkpoint ck -S 1M in -o out").exit_code, 2);
  shell.run("touch -d '3 days' ck/*");
  const Outcome next = shell.run("$H sort --checkpoint ck -S 1M in -o out && cmp out expected");
  EXPECT_EQ(next.exit_code, 0) << next;
  EXPECT_NE(next.err.find("continues with"), std::string::npos) << next;
}

TEST(CheckpointCommand, says_what_a_folder_holds) {
  const Shell shell;
  shell.run("mkdir ck && $H gen 30000 in");
  EXPECT_EQ(shell.run("$H checkpoint ck").out, "ck: no checkpoint\n");
  EXPECT_EQ(shell.run("$H checkpoint ck").exit_code, 1);
  shell.run("HETSORT_FAULTS=sync:7:EIO $H sort --checkpoint ck -S 1M in -o out");
  const Outcome held = shell.run("$H checkpoint ck");
  EXPECT_EQ(held.exit_code, 0) << held;
  for (const char* text :
       {"ck:\n  rank 0: ", " runs with ", " of the output are written", "output: out",
        "layout of records: records of 100 bytes", "INPUT in: 3000000 bytes", "the same command continues"})
    EXPECT_NE(held.out.find(text), std::string::npos) << text << " in " << held.out;
  shell.run("touch in");
  const Outcome changed = shell.run("$H checkpoint ck");
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_NE(changed.out.find("cannot be continued: INPUT in has changed"), std::string::npos) << changed.out;
  EXPECT_TRUE(failed_with(shell.run("$H checkpoint missing"), "missing"));
}

}  // namespace
}  // namespace hetsort::cli::test
