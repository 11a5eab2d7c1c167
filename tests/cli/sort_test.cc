// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

using nlohmann::json;

/// The records of `text` in the order of their first ten bytes, ties as they stood.
std::string sorted_records(const std::string& text, std::size_t record_bytes = 100, std::size_t key_bytes = 10) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < text.size(); at += record_bytes) records.push_back(text.substr(at, record_bytes));
  std::stable_sort(records.begin(), records.end(), [&](const std::string& a, const std::string& b) {
    return a.compare(0, key_bytes, b, 0, key_bytes) < 0;
  });
  std::string sorted;
  for (const std::string& record : records) sorted += record;
  return sorted;
}

TEST(SortCommand, every_way_in_and_out_gives_the_same_bytes) {
  const Shell shell;
  shell.run("$H gen --keys few:200 20000 in && head -c 700000 in > a && tail -c +700001 in > b && mkfifo p");
  const std::string expected = sorted_records(shell.file("in"));
  for (const char* line :
       {"$H sort in -o out", "$H sort in > out", "$H sort < in > out", "$H sort - -o out < in",
        "cat in | $H sort -o out", "cat a b | $H sort -o out", "$H sort a b -o out", "cat b | $H sort a - -o out",
        "cat in | $H sort | cat > out", "$H sort in | cat > out", "cp in out && $H sort out -o out",
        "ln -sf in l && $H sort l -o out", "cat in > p & $H sort p -o out", "$H sort --output=out in",
        "$H sort -oout in", "$H sort -j1 -o out -- in", "$H sort in -o p & cat p > out",
        ": > empty; $H sort empty a empty b -o out"}) {
    for (const char* memory : {"", "-S 300K"}) {
      std::string call = line;
      call.replace(call.find("$H sort"), 7, std::string("$H sort -q -T . ") + memory);
      shell.run("rm -f out");
      EXPECT_EQ(shell.run(call).exit_code, 0) << call;
      EXPECT_TRUE(shell.file("out") == expected) << call;
    }
  }
}

TEST(SortCommand, output_may_be_an_input_by_any_name) {
  const Shell shell;
  shell.run("$H gen 5000 in");
  const std::string expected = sorted_records(shell.file("in"));
  for (const char* line : {"$H sort x -o x", "$H sort ./x -o x", "ln x y && $H sort y -o x",
                           "ln -s x y && $H sort x -o y", "$H sort -S 200K -T . x -o x"}) {
    shell.run("rm -f x y; cp in x");
    EXPECT_EQ(shell.run(line).exit_code, 0) << line;
    EXPECT_TRUE(shell.file("x") == expected) << line;
  }
}

TEST(SortCommand, sorted_file_validates) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 100000 in && $H sort in -S 2M -T . -o out && $H validate out");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(outcome.err.find("SUCCESS - all records are in order"), std::string::npos);
  const Outcome twice = shell.run("$H gen -c 100000 /dev/null");
  EXPECT_NE(outcome.err.find("Checksum: " + twice.err), std::string::npos);
}

TEST(SortCommand, standard_output_holds_only_records) {
  const Shell shell;
  const Outcome outcome =
      shell.run("$H gen 1000 in && $H sort -v --explain --progress lines --checksum --report r --trace t in");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out == sorted_records(shell.file("in")));
  EXPECT_NE(outcome.err.find("1000 records"), std::string::npos);
  EXPECT_NE(outcome.err.find("all fits memory"), std::string::npos);
}

TEST(SortCommand, writes_behind_what_standard_output_held) {
  const Shell shell;
  shell.run("$H gen 1000 in");
  const std::string expected = "head" + sorted_records(shell.file("in")) + "tail";
  shell.run("{ printf head; $H sort in; printf tail; } > out");
  EXPECT_TRUE(shell.file("out") == expected);
  shell.run("printf head > out; $H sort in >> out; printf tail >> out");
  EXPECT_TRUE(shell.file("out") == expected);
}

TEST(SortCommand, other_layouts) {
  const Shell shell;
  shell.run("$H gen 2000 in");
  EXPECT_EQ(shell.run("$H sort --record-size 4 in -o out").exit_code, 0);
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in"), 4, 4)) << "the key defaults to a short record";
  EXPECT_EQ(shell.run("$H sort --record-size 1 in -o out").exit_code, 0);
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in"), 1, 1));
  EXPECT_EQ(shell.run("$H sort --record-size 1000 --key 0:1000 in -o out").exit_code, 0);
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in"), 1000, 1000));
  EXPECT_EQ(shell.run("$H sort --key 12:3 in | $H validate --record-size 100 --key 12:3 -").exit_code, 0);
}

TEST(SortCommand, files_that_report_no_size_are_read) {
  const Shell shell;
  const std::string sort = "$H sort --record-size 1 --key 0:1 ";
  const Outcome outcome = shell.run("cat /proc/filesystems > copy && " + sort + "copy -o expected && " + sort +
                                    "/proc/filesystems -o out && cmp out expected && [ -s out ]");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST(SortCommand, the_number_of_records_is_checked_where_it_is_given) {
  const Shell shell;
  shell.run("$H gen 100 in && echo old > out");
  for (const std::string sort : {"$H sort in -o out --records ", "cat in | $H sort -o out --records "}) {
    EXPECT_TRUE(failed_with(shell.run(sort + "101"), "the input has 100 records and --records is 101")) << sort;
    EXPECT_TRUE(failed_with(shell.run(sort + "99"), "output untouched")) << sort;
    EXPECT_EQ(shell.file("out"), "old\n");
  }
  EXPECT_EQ(shell.run("head -c 5000 in | $H sort --records 50 -o out && $H sort in in --records 200 -o out").exit_code,
            0);
  EXPECT_EQ(shell.file("out").size(), 20'000U);
}

TEST(SortCommand, standard_input_that_a_launcher_forwards_needs_the_number_of_records) {
  const Shell shell;
  shell.run("$H gen 100 in && echo old > out");
  const std::string alone = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 $H ";
  const std::string launched = "cat in | " + alone;
  for (const std::string inputs : {"", "-", "/dev/stdin", "in /proc/self/fd/0"})
    EXPECT_TRUE(failed_with(shell.run(launched + "sort --mpi off -o out " + inputs), "with --records, or name a file"))
        << inputs;
  EXPECT_EQ(shell.file("out"), "old\n");
  EXPECT_TRUE(failed_with(shell.run(launched + "validate --mpi off -"), "cut short; name a file"));
  EXPECT_EQ(shell.run(launched + "sort --mpi off --records 100 -o out").exit_code, 0);
  EXPECT_EQ(shell.run(alone + "sort --mpi off -o out <in").exit_code, 0) << "a file is not forwarded";
  EXPECT_EQ(shell.run(launched + "sort --mpi off in -o out").exit_code, 0) << "it is not read";
}

TEST(SortCommand, missing_files_are_reported_before_a_pipe_is_waited_for) {
  const Shell shell;
  shell.run("mkfifo fifo && $H gen 10 in");
  // Nothing opens the other end.
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H sort fifo missing -o out"), "open missing: No such file"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H sort fifo . -o out"), "read .: Is a directory"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H sort fifo in -o missing/out"), "missing"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H sort missing -o fifo"), "open missing: No such file"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H validate fifo missing"), "open missing: No such file"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H validate -s fifo missing"), "open missing: No such file"));
  EXPECT_TRUE(failed_with(shell.run("timeout 20 $H report fifo missing -o page"), "open missing: No such file"));
}

TEST(SortCommand, output_is_read_back_where_that_is_wanted) {
  const Shell shell;
  shell.run("$H gen 60000 in");
  EXPECT_EQ(shell.run("$H sort in -o out --verify-output --report r").exit_code, 0);
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in")));
  EXPECT_NE(shell.file("r").find("\"verified_bytes\":6000000,\"verify_seconds\":0."), std::string::npos);
  EXPECT_TRUE(failed_with(shell.run("$H sort in -o out --verify-output --no-sync"), "excludes --no-sync"));
  EXPECT_TRUE(failed_with(shell.run("$H sort in --verify-output > other"), "verify standard output: "));
  EXPECT_TRUE(failed_with(shell.run("HETSORT_FAULTS=write:1:corrupt $H sort in -o out --verify-output --io threads"),
                          "other records than those written"));
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in")));
}

TEST(SortCommand, without_proc_it_sorts_all_the_same) {
  const Shell shell;
  shell.run("$H gen 60000 in && echo old >out");
  // Where this user may not mount, /proc is missing only when the output is opened again: at the seventh file, and at
  // the thirteenth if runs are spilled. Sanitizers read their settings from /proc.
  const bool mounts = !hetsort::test::kSanitized && shell.run("unshare -m true").exit_code == 0;
  const auto fails_to_open = [&](int file) {
    return mounts ? std::string() : "HETSORT_FAULTS=open:" + std::to_string(file) + ":ENOENT ";
  };
  const Outcome outcome =
      shell.run((mounts ? "unshare -m sh -c 'mount -t tmpfs none /proc && " : "sh -c '") + fails_to_open(7) +
                "$0 sort in -o out && " + fails_to_open(7) + "$0 sort in -o fresh && " + fails_to_open(13) +
                "$0 sort -S 1M -T . in -o spilled' $H && cmp out fresh && cmp out spilled");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(shell.file("out") == sorted_records(shell.file("in")));
  EXPECT_EQ(shell.names(), (Names{"fresh", "in", "out", "spilled"}));
}

TEST(SortCommand, no_records_make_an_empty_output) {
  const Shell shell;
  EXPECT_EQ(shell.run("$H sort < /dev/null -o out && : > e && $H sort e e -o out2 && $H sort e | wc -c").out, "0\n");
  EXPECT_EQ(shell.names(), (Names{"e", "out", "out2"}));
  EXPECT_EQ(shell.file("out"), "");
}

TEST(SortCommand, a_table_that_cannot_be_saved_is_reported_after_the_output_is_in_place) {
  const Shell shell;
  // Slow enough to be measured.
  shell.run("$H gen 5000 in && $H sort in -o whole");
  EXPECT_EQ(shell.run("HETSORT_FAULTS=read:1+:delay20 $H sort in -o out --learn table").exit_code, 0);
  const std::string table = shell.file("table");
  // A note says that no rank worked long enough.
  const Outcome none = shell.run("$H sort -o out2 --learn table </dev/null && rm out2");
  EXPECT_EQ(none.exit_code, 0) << none;
  EXPECT_EQ(none.err, "hetsort: note: table learned nothing: no rank worked long enough for a rate\n");
  EXPECT_EQ(shell.file("table"), table);
  EXPECT_NE(table.find("[5000.0,0.0"), std::string::npos) << table;
  const Outcome outcome =
      shell.run("HETSORT_FAULTS=read:1+:delay20,rename:2:ENOSPC $H sort -q in -o out --learn table --report r.json");
  EXPECT_TRUE(failed_with(outcome, "table: No space left on device"));
  EXPECT_EQ(shell.file("out"), shell.file("whole"));
  EXPECT_EQ(shell.file("table"), table);
  EXPECT_NE(shell.file("r.json"), "");
  // A sort that fails teaches nothing.
  EXPECT_EQ(shell.run("HETSORT_FAULTS=write:1:EIO $H sort in -o out --learn other").exit_code, 2);
  EXPECT_EQ(shell.names(), (Names{"in", "out", "r.json", "table", "whole"}));
}

TEST(SortCommand, sorts_that_overlap_all_teach_the_table) {
  const Shell shell;
  shell.run("$H gen 5000 in && $H gen 7000 more && HETSORT_FAULTS=read:1+:delay20 $H sort in -o out --learn table");
  // The first has read the table and sleeps in its reads; the second begins and ends meanwhile.
  const Outcome outcome = shell.run(
      "HETSORT_FAULTS=read:2+:delay300 $H sort in -o out --learn table & sleep 1; "
      "HETSORT_FAULTS=read:1+:delay20 $H sort more -o out2 --learn table && cp table early && wait $!");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_NE(shell.file("early").find("[7000.0,"), std::string::npos) << shell.file("early");
  const std::string table = shell.file("table");
  EXPECT_NE(table, shell.file("early"));
  EXPECT_NE(table.find("[5000.0,"), std::string::npos) << table;
  EXPECT_NE(table.find("[7000.0,"), std::string::npos) << table;
}

TEST(SortCommand, what_it_writes_beside_the_output_is_not_written_over_it) {
  const Shell shell;
  shell.run("$H gen 100 in && echo old > out && ln out twin && ln -s out link");
  const auto refused = [&](const std::string& words, const std::string& message) {
    EXPECT_TRUE(failed_with(shell.run("$H sort in " + words), message)) << words;
    EXPECT_EQ(shell.file("out"), "old\n") << words;
    EXPECT_EQ(shell.names(), (Names{"in", "link", "out", "twin"})) << words;
  };
  for (const char* const other : {"--learn", "--report", "--trace"})
    for (const char* const path : {"out", "./out", "$PWD/out", "none/../out", "twin", "link"})
      refused(std::string("-o out ") + other + " " + path, std::string("-o and ") + other + " both name ");
  refused("-o new --report ./new", "-o and --report both name ./new: each wants a file of its own");
  refused("-o new --report in", "--report names in, which is also INPUT: it would be replaced");
  refused("-o new --report r --trace ./r", "--report and --trace both name ./r");
  refused("-o new --report r --learn ./r", "--report and --learn both name ./r");
  refused("-o new --trace r --learn ./r", "--trace and --learn both name ./r");
  EXPECT_EQ(shell.run("$H sort in -o /dev/null --report /dev/null --trace /dev/null").exit_code, 0);
}

TEST(SortCommand, bad_requests_name_what_is_wrong) {
  const Shell shell;
  shell.run("$H gen 100 in && head -c 150 in > odd && mkdir folder && echo old > out");
  const auto refused = [&](const std::string& words, const std::string& message) {
    EXPECT_TRUE(failed_with(shell.run("$H sort " + words), message)) << words;
    EXPECT_EQ(shell.file("out"), "old\n") << words;
  };
  refused("odd -o out", "read odd: 150 bytes are no whole number of 100-byte records: 50 left over at offset 100");
  refused("-o out < odd", "50 left over at offset 100");
  refused("in odd -o out", "read odd:");
  refused("missing -o out", "missing: No such file or directory");
  refused("folder -o out", "folder: Is a directory");
  refused("in -o folder", "folder: Is a directory");
  refused("in -o nowhere/out", "nowhere/out: No such file or directory");
  refused("in -o ''", "-o");
  refused("--key 95:10 in -o out", "key 95:10 reaches beyond the 100-byte record");
  refused("--key 0:0 in -o out", "key length 0");
  refused("--key 0:4097 --record-size 5000 in -o out", "key length 4097");
  refused("--key 18446744073709551615:2 in -o out", "reaches beyond");
  refused("--key 3 in -o out", "OFFSET:LENGTH");
  refused("--key a:b in -o out", "--key 'a:b' is not OFFSET:LENGTH or OFFSET:TYPE");
  refused("--record-size 0 in -o out", "--record-size wants 1 to 1048576, not 0");
  refused("--record-size 1048577 in -o out", "--record-size wants 1 to 1048576, not 1048577");
  refused("--record-size -3 in -o out", "-3");
  refused("--recod-size 5 in -o out", "unknown option '--recod-size'; did you mean '--record-size'?");
  refused("-S 0 in -o out", "-S");
  refused("-S 10X in -o out", "-S");
  refused("-S 101% in -o out", "-S");
  refused("-j 0 in -o out", "-j");
  refused("--io fast in -o out", "--io 'fast' is none of auto, uring, threads, buffered");
  refused("--progress maybe in -o out", "--progress 'maybe' is none of auto, bar, lines, none");
  refused("-T nowhere in -o out", "temp directory nowhere: No such file or directory");
  refused("-T in in -o out", "temp directory in: Not a directory");
  refused("- - -o out", "only once");
  refused("-q -v in -o out", "exclude each other");
  refused("-o out <&-", "standard input");
  refused("--speeds 1,2 in -o out", "--speeds gives 2 speeds for 1 rank");
  refused("--cluster missing.toml in -o out", "missing.toml");
  refused("--strategy fastest in -o out", "unknown strategy 'fastest'");
  refused("--strategy learned in -o out", "--strategy learned needs --learn FILE");
  refused("--learn nowhere/f in -o out", "nowhere");
  refused("--learn - in -o out", "--learn wants a file, not '-'");
  refused("--learn 't.{rank}' in -o out", "--learn t.{rank}: rank 0 has this file for all ranks");
  shell.write("broken", "{\"schema\":\"hetsort.curves/1\",\"nodes\":[{\"name\":\"a\",\"points\":[[1,2]]}]}");
  refused("--learn broken in -o out", "broken: node 'a': a point must be [records, seconds, count, variance]");
  shell.write("cut", "{\"schema\":");
  refused("--learn cut in -o out", "cut: no JSON at byte 11");
  shell.run("rm broken cut");
  refused("--exchange fast in -o out", "--exchange 'fast' is none of inline, thread, threads");
  refused("--stall-timeout 0 in -o out", "--stall-timeout '0' is not a number of seconds");
  refused("-x in -o out", "unknown option '-x'\n");
  EXPECT_TRUE(failed_with(shell.run("$H srot in"), "unknown command 'srot'; did you mean 'sort'?"));
  EXPECT_TRUE(failed_with(shell.run("$H sort in -o /dev/full"), "write /dev/full: No space left on device"));
  EXPECT_TRUE(failed_with(shell.run("$H sort in > /dev/full"), "No space left on device"));
  EXPECT_TRUE(failed_with(shell.run("$H sort in >&-"), "standard output"));
  EXPECT_EQ(shell.names(), (Names{"folder", "in", "odd", "out"}));
}

TEST(SortCommand, more_inputs_than_descriptors_are_opened_one_at_a_time) {
  const Shell shell;
  shell.run("$H gen 30000 in && $H sort in -o expected && mkdir d && split -a 3 -b 10000 in d/");
  for (const std::string words :
       {"-o out d/*", "-S 300K -T . -o out d/*", "d/* >out", "-o d/aaa d/* && mv d/aaa out"}) {
    const Outcome outcome = shell.run("rm -f out; ulimit -n 64; $H sort " + words);
    EXPECT_EQ(outcome.exit_code, 0) << words << ": " << outcome;
    EXPECT_TRUE(shell.file("out") == shell.file("expected")) << words;
    shell.run("split -a 3 -b 10000 in d/");
  }
  shell.run("printf x >>d/abc; echo old >out");
  EXPECT_TRUE(failed_with(shell.run("ulimit -n 64; $H sort d/* -o out"), "d/abc: 10001 bytes are no whole number"));
  EXPECT_TRUE(failed_with(shell.run("ulimit -n 64; $H sort d/* none -o out"), "none: No such file"));
  EXPECT_EQ(shell.file("out"), "old\n");
  // The other commands that take many files read them one after the other.
  shell.run("rm d/*; split -a 3 -b 10000 expected d/; $H sort in -o out --report run.json");
  EXPECT_EQ(shell.run("ulimit -n 64; $H validate -q d/*").exit_code, 0);
  EXPECT_EQ(shell.run("ulimit -n 64; $H report --format text $(yes run.json | head -n 300) >/dev/null").exit_code, 0);
}

TEST(SortCommand, permissions_are_checked_before_the_sort) {
  const Shell shell;
  shell.run("$H gen 100 in && mkdir ro && echo old > ro/out && chmod 555 ro && cp in secret && chmod 000 secret");
  // A copy, since the other user may not reach the program where it is.
  shell.run("cp $H program");
  EXPECT_EQ(io::test::as_nobody([&] {
              const bool all =
                  failed_with(shell.run("./program sort in -o ro/out"), "ro/out: Permission denied") &&
                  failed_with(shell.run("./program sort in -o ro/new"), "ro/new: Permission denied") &&
                  failed_with(shell.run("./program sort secret -o out"), "secret: Permission denied") &&
                  failed_with(shell.run("./program sort in -T ro -o out"), "temp directory ro: Permission denied");
              return all ? 0 : 1;
            }),
            0);
  EXPECT_EQ(shell.file("ro/out"), "old\n");
}

TEST(SortCommand, signals_end_it_and_leave_nothing) {
  for (const auto& [signal, code] : {std::pair{"INT", "130"}, std::pair{"TERM", "143"}, std::pair{"HUP", "129"}}) {
    const Shell shell;
    shell.run("echo old > out; mkfifo p");
    // The sort waits for the end of the FIFO, which the second descriptor keeps from coming.
    const Outcome outcome = shell.run(
        "env --default-signal timeout 20 env --default-signal $H sort -S 1M -T . p -o out & exec 9> p; "
        "$H gen 50000 - >&9; sleep 0.5; pkill -" +
        std::string(signal) + " -P $! hetsort; wait $!; echo $?");
    EXPECT_EQ(outcome.out, std::string(code) + "\n") << outcome;
    EXPECT_NE(outcome.err.find("output untouched"), std::string::npos) << outcome;
    EXPECT_EQ(shell.file("out"), "old\n");
    EXPECT_EQ(shell.names(), (Names{"out", "p"}));
  }
}

TEST(SortCommand, reader_that_goes_away_ends_it) {
  const Shell shell;
  const Outcome outcome =
      shell.run("$H gen 100000 in && { $H sort -S 1M -T . in; echo $? >&2; } | head -c 100 | wc -c");
  EXPECT_NE(outcome.out.find("100"), std::string::npos);
  EXPECT_NE(outcome.err.find("141"), std::string::npos) << outcome;
}

TEST(SortCommand, input_that_changes_is_noticed) {
  const Shell shell;
  shell.run("$H gen 30000 in && cp in grown && echo old > out");
  // The first read of a run is delayed long enough for the change to come between.
  const Outcome grown = shell.run(
      "HETSORT_FAULTS=read:4:delay2500 $H sort --io buffered grown -o out & sleep 0.5; head -c 100 in >> grown; wait "
      "$!");
  EXPECT_TRUE(failed_with(grown, "grown: changed from 3000000 to 3000100 bytes while it was read")) << grown;
  shell.run("cp in cut");
  const Outcome cut = shell.run(
      "HETSORT_FAULTS=read:2:delay2500 $H sort -j1 --io buffered cut -o out & sleep 0.5; truncate -s 1000000 cut; wait "
      "$!");
  EXPECT_EQ(cut.exit_code, 2) << cut;
  EXPECT_NE(cut.err.find("cut: "), std::string::npos) << cut;
  EXPECT_NE(cut.err.find("while it was read"), std::string::npos) << cut;
  EXPECT_TRUE(shell.file("out") == "old\n");
}

TEST(SortCommand, mapped_input_that_changes_is_noticed) {
  const Shell shell(io::test::memory_folder());
  shell.run("$H gen 30000 in && $H gen -b30000 30000 other && echo old > out");
  const auto change = [&](const std::string& fault, const std::string& how) {
    shell.run("cp in changing");
    return shell.run("HETSORT_FAULTS=" + fault + ":delay2500 $H sort -j1 changing -o out & sleep 0.5; " + how +
                     "changing; wait $!");
  };
  // Cut when it is first read, and while its records are written, which only SIGBUS shows.
  const Outcome cut = change("read:5", "truncate -s 1000000 ");
  EXPECT_TRUE(failed_with(cut, "read changing: ")) << cut;
  EXPECT_NE(cut.err.find("while it was read; output untouched"), std::string::npos) << cut;
  if (io::storage_of(shell.path()) == io::Storage::kMemory) {
    const Outcome late = change("write:1", "truncate -s 1000000 ");
    EXPECT_TRUE(failed_with(late, "read changing: truncated while it was read; output untouched")) << late;
    const Outcome overwritten = change("write:1", "dd status=none bs=1M conv=notrunc if=other of=");
    EXPECT_TRUE(failed_with(overwritten, "the written records are not the ones read")) << overwritten;
  }
  EXPECT_TRUE(shell.file("out") == "old\n");
  EXPECT_EQ(shell.names(), (Names{"changing", "in", "other", "out"}));
}

TEST(SortCommand, an_input_that_standard_output_overwrites_is_read_first) {
  const Shell shell(io::test::memory_folder());
  shell.run("$H gen 30000 in && $H sort in -o expected && cp in same");
  const Outcome outcome = shell.run("$H sort same 1<> same");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_TRUE(shell.file("same") == shell.file("expected"));
}

TEST(SortCommand, report_has_what_was_done) {
  const Shell shell;
  shell.run("$H gen 20000 in && $H sort -S 500K -T . --checksum --report r --trace t in -o out");
  const json report = json::parse(shell.file("r"));
  EXPECT_EQ(report["schema"], "hetsort.run/1");
  EXPECT_EQ(report["records"], 20000);
  EXPECT_EQ(report["bytes"], 2000000);
  EXPECT_EQ(report["fingerprint"].get<std::string>().size(), 16U);
  EXPECT_EQ(report["checksum"].get<std::string>() + "\n", shell.run("$H gen -c 20000 /dev/null").err);
  const json& rank = report["ranks"][0];
  EXPECT_EQ(rank["output_records"], 20000);
  EXPECT_GT(rank["runs"], 1);
  // A part of the records stays in memory.
  EXPECT_EQ(rank["in_memory"], false);
  EXPECT_EQ(rank["runs_in_memory"], 1);
  EXPECT_GT(rank["bytes_spilled"], 500000);
  EXPECT_LT(rank["bytes_spilled"], 2000000);
  EXPECT_GT(rank["bytes_read"], 2500000);
  double end = 0;
  for (const json& phase : rank["phases"]) {
    EXPECT_EQ(phase["begin"].get<double>() >= end, true);
    end = phase["end"];
  }
  EXPECT_EQ(report["seconds"], end);
  EXPECT_FALSE(report.contains("error"));
  std::int64_t phase_end = -1;
  const json trace = json::parse(shell.file("t"));
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["tid"] != 0) continue;
    if (phase_end >= 0) {
      EXPECT_EQ(event["ts"], phase_end);
    }
    phase_end = event["ts"].get<std::int64_t>() + event["dur"].get<std::int64_t>();
  }
  EXPECT_NEAR(static_cast<double>(phase_end), end * 1e6, 2);
}

TEST(SortCommand, names_that_are_no_utf_8_are_in_report_and_trace_as_far_as_they_can) {
  const Shell shell;
  const std::string name = "N=$(printf 'caf\\351') && ";
  Outcome outcome = shell.run(name + R"($H gen 100 "$N" && $H sort "$N" -o out -T . --report r --trace t --learn l)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
  EXPECT_EQ(json::parse(shell.file("r"))["context"]["command"][2], "caf\uFFFD");
  EXPECT_TRUE(json::parse(shell.file("t")).contains("traceEvents"));
  outcome = shell.run(name + R"($H sort "no$N" -o out2 --report r2)");
  EXPECT_TRUE(failed_with(outcome, "No such file"));
  EXPECT_NE(json::parse(shell.file("r2"))["error"].get<std::string>().find("nocaf\uFFFD"), std::string::npos);
  outcome = shell.run(name + R"($H compare "$N" -o out3 --strategies equal,threshold --rounds 1 -q)");
  EXPECT_EQ(outcome.exit_code, 0) << outcome;
}

TEST(SortCommand, report_is_written_when_the_run_fails) {
  const Shell shell;
  const Outcome outcome = shell.run("$H sort --report r missing -o out");
  EXPECT_TRUE(failed_with(outcome, "missing"));
  EXPECT_NE(json::parse(shell.file("r"))["error"].get<std::string>().find("missing"), std::string::npos);
  EXPECT_EQ(shell.names(), Names{"r"});
}

TEST(SortCommand, dry_run_plans_and_touches_nothing) {
  const Shell shell;
  const Outcome outcome = shell.run("$H gen 50000 in && $H sort --dry-run --explain -S 1M -T . in -o out");
  EXPECT_EQ(outcome.exit_code, 0);
  const json plan = json::parse(outcome.out);
  EXPECT_EQ(plan["schema"], "hetsort.plan/1");
  EXPECT_EQ(plan["nodes"][0]["records"], 50000);
  EXPECT_NE(outcome.err.find("spill"), std::string::npos);
  EXPECT_EQ(shell.names(), Names{"in"});
}

TEST(SortCommand, dry_run_tries_the_files_beside_the_output) {
  const Shell shell;
  shell.run("$H gen 1000 in");
  const std::string dry = "$H sort in -o out --dry-run ";
  EXPECT_EQ(shell.run(dry + "--report r --trace t --learn l").exit_code, 0);
  for (const char* const file : {"--report", "--trace", "--learn"})
    EXPECT_TRUE(failed_with(shell.run(dry + file + " missing/f"), "missing/f")) << file;
  EXPECT_EQ(shell.names(), Names{"in"});
}

TEST(SortCommand, corrupt_spill_is_found) {
  const Shell shell;
  shell.run("$H gen 30000 in && echo old > out");
  const Outcome outcome = shell.run("HETSORT_FAULTS=write:3:corrupt $H sort --io buffered -S 500K -T . in -o out");
  EXPECT_TRUE(failed_with(outcome, "corrupt block")) << outcome;
  EXPECT_EQ(shell.file("out"), "old\n");
}

}  // namespace
}  // namespace hetsort::cli::test
