// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/publish.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ostream>
#include <regex>
#include <thread>

#include "io/error.h"
#include "tests/io/scratch.h"
#include "tests/machinery/fault_plan.h"

namespace hetsort::io {  // for PrintTo

static void PrintTo(Staging staging, std::ostream* stream) {
  *stream << (staging == Staging::kNameless ? "nameless" : "named");
}

}  // namespace hetsort::io

namespace hetsort::io::test {
namespace {

using test::as_nobody;
using test::bytes_of;
using test::Faults;
using test::in_child;
using test::message_of;
using test::read_all;
using test::Scratch;
using test::write_all;
using Names = std::set<std::string>;

void put(const std::string& path, const std::string& text, bool sync = true) {
  OutputFile output(path);
  output.file().write_at(bytes_of(text), 0);
  output.publish(sync);
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

std::string publish_error(const std::string& path) {
  return message_of<Error>([&] { const OutputFile output(path); });
}

/// Makes the file system look as if it knew no nameless files: the fourth open for a target is that one.
constexpr const char* kNoNamelessFiles = "open:4:EINVAL";

TEST(OutputFile, fresh_target_appears_only_when_published) {
  const Scratch scratch;
  OutputFile output(scratch / "out");
  EXPECT_TRUE(output.is_staged());
  output.file().write_at(bytes_of("sorted"), 0);
  EXPECT_EQ(scratch.names(), Names{});
  output.publish(true);
  EXPECT_EQ(scratch.names(), Names{"out"});
  EXPECT_EQ(read_all(scratch / "out"), "sorted");
  EXPECT_FALSE(output.file().is_open());
}

TEST(OutputFile, unpublished_output_leaves_nothing_and_the_old_one_untouched) {
  const Scratch scratch;
  write_all(scratch / "old", "old");
  for (const char* name : {"old", "new"}) {
    const OutputFile output(scratch / name);
    output.file().write_at(bytes_of("half"), 0);
  }
  EXPECT_EQ(scratch.names(), Names{"old"});
  EXPECT_EQ(read_all(scratch / "old"), "old");
}

TEST(OutputFile, existing_target_is_replaced_with_its_permissions) {
  const Scratch scratch;
  write_all(scratch / "out", "old and longer");
  ::chmod((scratch / "out").c_str(), 0640);
  put(scratch / "out", "new");
  EXPECT_EQ(read_all(scratch / "out"), "new");
  EXPECT_EQ(mode_of(scratch / "out"), 0640U);
  EXPECT_EQ(scratch.names(), Names{"out"});
}

TEST(OutputFile, fresh_target_gets_the_permissions_of_the_umask) {
  const Scratch scratch;
  const mode_t before = ::umask(027);
  put(scratch / "out", "new");
  ::umask(before);
  EXPECT_EQ(mode_of(scratch / "out"), 0640U);
}

TEST(OutputFile, final_size_cuts_what_was_reserved_or_padded) {
  const Scratch scratch;
  for (const bool sync : {true, false}) {
    OutputFile output(scratch / "out");
    output.file().allocate(1 << 20);
    output.file().write_at(bytes_of("sorted, padded"), 0);
    output.set_final_size(6);
    output.publish(sync);
    EXPECT_EQ(read_all(scratch / "out"), "sorted");
  }
}

TEST(OutputFile, without_sync_nothing_is_synced) {
  const Scratch scratch;
  const auto syncs = [] { return traffic().calls[static_cast<std::size_t>(Call::kSync)]; };
  const std::uint64_t before = syncs();
  put(scratch / "out", "new", false);
  EXPECT_EQ(syncs(), before);
  put(scratch / "out", "new", true);
  EXPECT_EQ(syncs(), before + 2);  // the file and its folder
}

TEST(OutputFile, prepare_leaves_the_target_as_it_was) {
  const Scratch scratch;
  write_all(scratch / "out", "old");
  OutputFile output(scratch / "out");
  output.file().write_at(bytes_of("new"), 0);
  output.prepare(true);
  EXPECT_EQ(read_all(scratch / "out"), "old");
  EXPECT_EQ(scratch.names(), Names{"out"});
  output.publish(true);
  EXPECT_EQ(read_all(scratch / "out"), "new");
}

TEST(OutputFile, target_that_came_meanwhile_is_replaced) {
  const Scratch scratch;
  OutputFile output(scratch / "out");
  output.file().write_at(bytes_of("new"), 0);
  write_all(scratch / "out", "came meanwhile");
  output.publish(true);
  EXPECT_EQ(read_all(scratch / "out"), "new");
  EXPECT_EQ(scratch.names(), Names{"out"});
}

TEST(OutputFile, output_may_be_the_input) {
  const Scratch scratch;
  write_all(scratch / "data", "input");
  const File input = File::open_read(scratch / "data");
  OutputFile output(scratch / "data");
  output.file().write_at(bytes_of("output"), 0);
  output.publish(true);
  std::string text(5, ' ');
  input.read_at(std::as_writable_bytes(std::span(text)), 0);
  EXPECT_EQ(text, "input");
  EXPECT_EQ(read_all(scratch / "data"), "output");
}

TEST(OutputFile, hard_links_of_the_target_keep_the_old_bytes) {
  const Scratch scratch;
  write_all(scratch / "out", "old");
  std::filesystem::create_hard_link(scratch / "out", scratch / "other");
  put(scratch / "out", "new");
  EXPECT_EQ(read_all(scratch / "other"), "old");
  EXPECT_EQ(read_all(scratch / "out"), "new");
}

TEST(OutputFile, symbolic_links_are_followed_and_stay) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "folder");
  write_all(scratch / "folder/file", "old");
  std::filesystem::create_symlink("folder/file", scratch / "link");
  std::filesystem::create_symlink(scratch / "link", scratch / "chain");
  std::filesystem::create_symlink("folder/fresh", scratch / "dangling");
  put(scratch / "chain", "through two links");
  put(scratch / "dangling", "came to be");
  EXPECT_EQ(read_all(scratch / "folder/file"), "through two links");
  EXPECT_EQ(read_all(scratch / "folder/fresh"), "came to be");
  for (const char* name : {"link", "chain", "dangling"}) EXPECT_TRUE(std::filesystem::is_symlink(scratch / name));
}

TEST(OutputFile, links_in_a_circle_are_an_error) {
  const Scratch scratch;
  std::filesystem::create_symlink("b", scratch / "a");
  std::filesystem::create_symlink("a", scratch / "b");
  EXPECT_EQ(publish_error(scratch / "a"), "write " + scratch / "a" + ": Too many levels of symbolic links");
}

TEST(OutputFile, relative_paths_hold_when_the_working_folder_changes) {
  const Scratch scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  OutputFile output("out");
  std::filesystem::current_path(before);
  output.file().write_at(bytes_of("here"), 0);
  output.publish(true);
  EXPECT_EQ(read_all(scratch / "out"), "here");
}

TEST(OutputFile, impossible_targets_are_errors_that_name_path_and_reason) {
  const Scratch scratch;
  write_all(scratch / "file", "");
  const std::string long_name(300, 'n');
  EXPECT_EQ(publish_error(scratch.path()), "write " + scratch.path() + ": Is a directory");
  EXPECT_EQ(publish_error(scratch / "none/"), "write " + scratch / "none/" + ": Is a directory");
  EXPECT_EQ(publish_error(scratch / "file/out"), "write " + scratch / "file/out" + ": Not a directory");
  EXPECT_EQ(publish_error(scratch / long_name), "write " + scratch / long_name + ": File name too long");
  EXPECT_EQ(publish_error(""), "write '': No such file or directory");
  EXPECT_EQ(publish_error(scratch / "none/out"),
            "create " + scratch / "none/out" + ": No such file or directory (in folder " + scratch / "none" + ")");
}

TEST(OutputFile, longest_possible_name_works_also_where_parts_need_names) {
  const Scratch scratch;
  const std::string name(255, 'n');
  const Faults faults(kNoNamelessFiles);
  put(scratch / name, "text");
  EXPECT_EQ(read_all(scratch / name), "text");
}

TEST(OutputFile, folder_or_target_without_write_permission_is_an_error_at_open) {
  const Scratch scratch;
  write_all(scratch / "readonly", "old");
  ::chmod((scratch / "readonly").c_str(), 0444);
  std::filesystem::create_directory(scratch / "folder");
  ::chmod((scratch / "folder").c_str(), 0555);
  const auto refused = [&] {
    return static_cast<int>(publish_error(scratch / "readonly").find("readonly: Permission denied") ==
                            std::string::npos) +
           2 * static_cast<int>(publish_error(scratch / "folder/out").find("out: Permission denied") ==
                                std::string::npos);
  };
  EXPECT_EQ(as_nobody(refused), 0);
}

TEST(OutputFile, another_users_file_in_a_sticky_folder_is_an_error_at_open) {
  const Scratch scratch;
  if (::geteuid() == 0) {
    write_all(scratch / "out", "old");
    ::chmod((scratch / "out").c_str(), 0666);
    ::chmod(scratch.path().c_str(), 01777);
    EXPECT_EQ(as_nobody([&] { return publish_error(scratch / "out").find("sticky") == std::string::npos ? 1 : 0; }), 0);
  }
}

TEST(OutputFile, file_system_that_takes_no_files_is_an_error_at_open) {
  EXPECT_EQ(publish_error("/proc/self/hetsort-out").find("create /proc/self/hetsort-out: "), 0U);
}

TEST(OutputFile, devices_and_pipes_are_written_directly) {
  const Scratch scratch;
  {
    OutputFile null("/dev/null");
    EXPECT_FALSE(null.is_staged());
    null.file().write(bytes_of("gone"));
    null.publish(true);
  }
  OutputFile full("/dev/full");
  EXPECT_EQ(message_of<Error>([&] { full.file().write(bytes_of("x")); }), "write /dev/full: No space left on device");
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_all(scratch / "pipe"); });
  put(scratch / "pipe", "");
  reader.join();
  {
    std::thread second([&] { received = read_all(scratch / "pipe"); });
    OutputFile output(scratch / "pipe");
    output.file().write(bytes_of("through the pipe"));
    output.publish(true);
    second.join();
  }
  EXPECT_EQ(received, "through the pipe");
  EXPECT_EQ(scratch.names(), Names{"pipe"});
}

TEST(OutputFile, an_open_files_name_in_proc_is_written_at_its_place) {
  const Scratch scratch;
  const int fd = ::open((scratch / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(fd, "before,", 7), 7);
  OutputFile output("/dev/fd/" + std::to_string(fd));
  EXPECT_FALSE(output.is_staged());
  output.file().write(bytes_of("after"));
  output.publish(true);
  EXPECT_EQ(read_all(scratch / "log"), "before,after");
  ::close(fd);
  const int reading = ::open((scratch / "log").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_NE(publish_error("/proc/self/fd/" + std::to_string(reading)).find("it is open for reading"),
            std::string::npos);
  ::close(reading);
}

TEST(OutputFile, without_nameless_files_a_private_part_stands_aside) {
  const Scratch scratch;
  {
    const Faults faults(kNoNamelessFiles);
    OutputFile output(scratch / "out");
    ASSERT_EQ(scratch.names().size(), 1U);
    const std::string part = *scratch.names().begin();
    EXPECT_TRUE(std::regex_match(part, std::regex("\\.out\\.hetsort-[0-9a-f]{32}\\.part"))) << part;
    EXPECT_EQ(mode_of(scratch / part), 0600U);
    output.file().write_at(bytes_of("new"), 0);
    output.publish(true);
    EXPECT_EQ(scratch.names(), Names{"out"});
    EXPECT_EQ(read_all(scratch / "out"), "new");
  }
  const Faults faults(kNoNamelessFiles);
  { const OutputFile dropped(scratch / "other"); }
  EXPECT_EQ(scratch.names(), Names{"out"});
}

TEST(OutputFile, two_parts_of_one_process_for_one_target_do_not_meet) {
  const Scratch scratch;
  const Faults faults("open:4:EINVAL,open:10:EINVAL");
  OutputFile first(scratch / "out");
  OutputFile second(scratch / "out");
  EXPECT_EQ(scratch.names().size(), 2U);
  first.file().write_at(bytes_of("first"), 0);
  second.file().write_at(bytes_of("second"), 0);
  first.publish(true);
  second.publish(true);
  EXPECT_EQ(read_all(scratch / "out"), "second");
  EXPECT_EQ(scratch.names(), Names{"out"});
}

TEST(OutputFile, parts_of_dead_processes_are_removed_and_those_of_living_ones_stay) {
  const Scratch scratch;
  EXPECT_EQ(in_child([&] {
              machinery::set_fault_plan(kNoNamelessFiles);
              const OutputFile output(scratch / "out");
              ::raise(SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
  EXPECT_EQ(scratch.names().size(), 1U);
  const std::string in_use = ".out.hetsort-0123456789abcdef0123456789abcdef.part";
  const std::string others = ".other.hetsort-0123456789abcdef0123456789abcdef.part";
  write_all(scratch / in_use, "in use");
  write_all(scratch / ".out.hetsort-notes.part", "not ours");
  write_all(scratch / others, "another target's");
  const int living = ::open((scratch / in_use).c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(living, LOCK_EX), 0);
  const OutputFile output(scratch / "out");
  EXPECT_EQ(scratch.names(), (Names{in_use, ".out.hetsort-notes.part", others}));
  ::close(living);
}

TEST(OutputFile, a_killed_process_leaves_nothing) {
  const Scratch scratch;
  write_all(scratch / "out", "old");
  EXPECT_EQ(in_child([&] {
              OutputFile output(scratch / "out");
              output.file().write_at(bytes_of("half"), 0);
              output.prepare(true);
              ::raise(SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
  EXPECT_EQ(scratch.names(), Names{"out"});
  EXPECT_EQ(read_all(scratch / "out"), "old");
}

extern "C" void end_on_signal(int number) {
  remove_unpublished_files();
  ::_exit(100 + number);
}

TEST(OutputFile, the_signal_handlers_call_removes_named_parts) {
  const Scratch scratch;
  EXPECT_EQ(in_child([&] {
              ::signal(SIGTERM, end_on_signal);
              machinery::set_fault_plan("open:4:EINVAL,open:9:EINVAL");
              const OutputFile first(scratch / "one");
              const OutputFile second(scratch / "two");
              if (scratch.names().size() != 2) return 1;
              ::raise(SIGTERM);
              return 0;
            }),
            100 + SIGTERM);
  EXPECT_EQ(scratch.names(), Names{});
}

/// Renames the folder "a" and puts a link of its name to "b" in its place.
void exchange_folder(const Scratch& scratch) {
  std::filesystem::rename(scratch / "a", scratch / "moved");
  std::filesystem::create_symlink("b", scratch / "a");
}

/// An output in folder "a", which moves before the output is published.
class MovedFolder : public testing::TestWithParam<std::tuple<bool, Staging>> {};

TEST_P(MovedFolder, still_gets_the_output_and_not_what_took_its_name) {
  const auto& [exists, staging] = GetParam();
  const Scratch scratch;
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(scratch / name);
  if (exists) write_all(scratch / "a/out", "old");
  write_all(scratch / "b/out", "precious");
  OutputFile output(scratch / "a/out", staging);
  output.file().write_at(bytes_of("new"), 0);
  exchange_folder(scratch);
  output.publish(true);
  EXPECT_EQ(read_all(scratch / "b/out"), "precious");
  EXPECT_EQ(read_all(scratch / "moved/out"), "new");
  for (const char* name : {"b", "moved"})
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / name), {}), 1) << name;
}

INSTANTIATE_TEST_SUITE_P(AllStagings, MovedFolder,
                         testing::Combine(testing::Bool(), testing::Values(Staging::kNameless, Staging::kNamed)));

TEST(OutputFile, the_signal_handlers_call_finds_parts_in_a_folder_that_moved) {
  const Scratch scratch;
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(scratch / name);
  EXPECT_EQ(in_child([&] {
              const OutputFile output(scratch / "a/out", Staging::kNamed);
              const JoinedOutput joined(output.invite(), "out");
              exchange_folder(scratch);
              if (std::filesystem::is_empty(scratch / "moved")) return 1;
              end_on_signal(0);
              return 0;
            }),
            100);
  EXPECT_TRUE(std::filesystem::is_empty(scratch / "moved"));
}

struct Attempt {
  std::uint64_t fired = 0;
  std::string message;
};

/// Publishes "new" to `path` with call `number` of `kind` failing.
Attempt try_with_fault(const std::string& path, const std::string& plan) {
  const Faults faults(plan);
  Attempt attempt;
  attempt.message = message_of<Error>([&] {
    OutputFile output(path);
    output.file().allocate(4096);
    output.file().write_at(bytes_of("new"), 0);
    output.set_final_size(3);
    output.publish(true);
  });
  attempt.fired = machinery::faults_fired();
  return attempt;
}

class PublishFault : public testing::TestWithParam<std::tuple<std::string, std::string, bool, bool>> {};

TEST_P(PublishFault, every_failing_call_leaves_the_old_output_or_the_new_one_and_nothing_else) {
  const auto& [kind, error, existing, named] = GetParam();
  for (int number = 1;; ++number) {
    const Scratch scratch;
    if (existing) write_all(scratch / "out", "old");
    const std::string plan = kind + ":" + std::to_string(number) + ":" + error;
    const Attempt attempt = try_with_fault(scratch / "out", named ? plan + ",open:4:EINVAL" : plan);
    if (!attempt.message.empty() && attempt.message.find("is in place") == std::string::npos) {
      EXPECT_EQ(scratch.names(), existing ? Names{"out"} : Names{}) << plan << " " << attempt.message;
      EXPECT_EQ(read_all(scratch / "out"), existing ? "old" : "") << plan << " " << attempt.message;
      EXPECT_NE(attempt.message.find(scratch / "out"), std::string::npos) << attempt.message;
    } else {
      EXPECT_EQ(scratch.names(), Names{"out"}) << plan;
      EXPECT_EQ(read_all(scratch / "out"), "new") << plan;
    }
    EXPECT_TRUE(error != "EINTR" || attempt.message.empty()) << plan << " " << attempt.message;
    if (attempt.fired <= (named ? 1U : 0U) || number > 30) {
      EXPECT_LE(number, 30);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllCalls, PublishFault,
                         testing::Combine(testing::Values("open", "write", "sync", "allocate", "truncate", "link",
                                                          "rename", "stat", "chmod"),
                                          testing::Values("EIO", "ENOSPC"), testing::Bool(), testing::Values(false)));
INSTANTIATE_TEST_SUITE_P(NamedParts, PublishFault,
                         testing::Combine(testing::Values("write", "sync", "truncate", "rename", "chmod"),
                                          testing::Values("EIO"), testing::Bool(), testing::Values(true)));
INSTANTIATE_TEST_SUITE_P(Interrupted, PublishFault,
                         testing::Combine(testing::Values("open", "write", "sync", "allocate", "truncate", "link",
                                                          "rename", "stat", "chmod"),
                                          testing::Values("EINTR"), testing::Bool(), testing::Values(false)));

TEST(OutputFile, fresh_output_is_taken_back_when_its_folder_cannot_be_synced) {
  const Scratch scratch;
  const Attempt attempt = try_with_fault(scratch / "out", "sync:2:EIO");
  EXPECT_EQ(attempt.message, "sync the folder of " + scratch / "out" + ": Input/output error");
  EXPECT_EQ(scratch.names(), Names{});
}

}  // namespace
}  // namespace hetsort::io::test
