// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/calls/system_calls.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>

#include "io/error.h"
#include "io/file.h"
#include "tests/io/scratch.h"
#include "tests/machinery/environment.h"
#include "tests/machinery/fault_plan.h"

namespace hetsort::io::test {
namespace {

using test::bytes_of;
using test::Faults;
using test::message_of;
using test::Scratch;
using test::write_all;

std::uint64_t calls(Call kind) { return traffic().calls[static_cast<std::size_t>(kind)]; }

/// Which of ten reads fail under `plan`, as "..x.......".
std::string failing_reads(const std::string& plan) {
  const Scratch scratch;
  write_all(scratch / "file", "text");
  const File file = File::open_read(scratch / "file");
  const Faults faults(plan);
  std::string picture;
  char byte = 0;
  for (int i = 0; i < 10; ++i) picture += syscalls::pread(file.descriptor(), &byte, 1, 0) == 1 ? '.' : 'x';
  return picture;
}

TEST(FaultPlan, one_call_fails_once) {
  EXPECT_EQ(failing_reads("read:1:EIO"), "x.........");
  EXPECT_EQ(failing_reads("read:10:EIO"), ".........x");
  EXPECT_EQ(failing_reads("read:11:EIO"), "..........");
}

TEST(FaultPlan, a_plus_fails_that_call_and_all_after) { EXPECT_EQ(failing_reads("read:4+:EIO"), "...xxxxxxx"); }

TEST(FaultPlan, rules_of_a_list_hold_together_and_each_for_its_kind) {
  EXPECT_EQ(failing_reads("read:2:EIO,write:1:EIO,read:5:ENOSPC,open:1+:EIO"), ".x..x.....");
}

TEST(FaultPlan, random_faults_repeat_with_their_seed) {
  ::setenv("HETSORT_FAULT_SEED", "7", 1);
  const std::string seven = failing_reads("read:~2:EIO");
  EXPECT_EQ(failing_reads("read:~2:EIO"), seven);
  ::setenv("HETSORT_FAULT_SEED", "8", 1);
  EXPECT_NE(failing_reads("read:~2:EIO"), seven);
  ::unsetenv("HETSORT_FAULT_SEED");
  EXPECT_EQ(failing_reads("read:~1:EIO"), "xxxxxxxxxx");
}

TEST(FaultPlan, numbers_count_from_the_time_it_is_set) {
  EXPECT_EQ(failing_reads("read:2:EIO"), failing_reads("read:2:EIO"));
  EXPECT_EQ(failing_reads(""), "..........");
}

TEST(FaultPlan, counts_the_faults_that_fired) {
  const Scratch scratch;
  const Faults faults("stat:2+:EIO");
  struct stat status {};
  const File folder = File::open(scratch.path(), O_RDONLY, 0, "open");
  for (int i = 0; i < 4; ++i) syscalls::fstat(folder.descriptor(), &status);
  EXPECT_EQ(machinery::faults_fired(), 3U);
}

TEST(FaultPlan, every_errno_has_its_name) {
  for (const auto& [name, value] :
       {std::pair{"EIO", EIO}, std::pair{"ENOSPC", ENOSPC}, std::pair{"EINTR", EINTR}, std::pair{"EACCES", EACCES},
        std::pair{"ENOMEM", ENOMEM}, std::pair{"EINVAL", EINVAL}, std::pair{"EDQUOT", EDQUOT},
        std::pair{"EFAULT", EFAULT}, std::pair{"ENOENT", ENOENT}, std::pair{"ENOSYS", ENOSYS},
        std::pair{"EPERM", EPERM}}) {
    const Faults faults(std::string("sync:1:") + name);
    EXPECT_EQ(syscalls::sync(0), -1);
    EXPECT_EQ(errno, value) << name;
  }
}

TEST(FaultPlan, every_kind_of_call_can_fail) {
  const Scratch scratch;
  const std::string path = scratch / "file";
  struct stat status {};
  char byte = 0;
  const Faults faults(
      "open:1:EDQUOT,read:1+:EDQUOT,write:1+:EDQUOT,sync:1:EDQUOT,allocate:1:EDQUOT,truncate:1:EDQUOT,link:1:EDQUOT,"
      "rename:1:EDQUOT,stat:1+:EDQUOT,chmod:1:EDQUOT,unlink:1:EDQUOT");
  const auto fails = [](auto result) { return result == -1 && errno == EDQUOT; };
  EXPECT_TRUE(fails(syscalls::open(path.c_str(), O_RDONLY, 0)));
  EXPECT_TRUE(fails(syscalls::read(0, &byte, 1)));
  EXPECT_TRUE(fails(syscalls::pread(0, &byte, 1, 0)));
  EXPECT_TRUE(fails(syscalls::write(1, &byte, 1)));
  EXPECT_TRUE(fails(syscalls::pwrite(1, &byte, 1, 0)));
  EXPECT_TRUE(fails(syscalls::sync(0)));
  EXPECT_TRUE(fails(syscalls::allocate(0, 0, 1)));
  EXPECT_TRUE(fails(syscalls::truncate(0, 1)));
  EXPECT_TRUE(fails(syscalls::link_descriptor_at(0, AT_FDCWD, path.c_str())));
  EXPECT_TRUE(fails(syscalls::rename_at(AT_FDCWD, path.c_str(), path.c_str())));
  EXPECT_TRUE(fails(syscalls::fstat(0, &status)));
  EXPECT_TRUE(fails(syscalls::access_at(AT_FDCWD, path.c_str(), R_OK)));
  EXPECT_TRUE(fails(syscalls::change_mode(0, 0600)));
  EXPECT_TRUE(fails(syscalls::unlink_at(AT_FDCWD, path.c_str())));
  EXPECT_EQ(syscalls::completed(Call::kRead, 1, &byte), -EDQUOT);
  EXPECT_EQ(syscalls::completed(Call::kWrite, 1, &byte), -EDQUOT);
}

TEST(FaultPlan, short_moves_half_and_corrupt_flips_one_bit) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  std::string text(64, 'a');
  {
    const Faults faults("write:1:short,write:2:corrupt,write:3:short");
    EXPECT_EQ(syscalls::pwrite(file.descriptor(), text.data(), 64, 0), 32);
    EXPECT_EQ(syscalls::pwrite(file.descriptor(), text.data(), 64, 0), 64);
    EXPECT_EQ(syscalls::pwrite(file.descriptor(), text.data(), 1, 0), 1);  // there is no half of a byte
  }
  EXPECT_EQ(text, std::string(64, 'a'));  // the caller's memory is not what is damaged
  std::string read(64, ' ');
  EXPECT_EQ(syscalls::pread(file.descriptor(), read.data(), 64, 0), 64);
  EXPECT_EQ(std::count(read.begin(), read.end(), 'a'), 63);
  const Faults faults("read:1:corrupt,read:2:short");
  std::string again(64, ' ');
  EXPECT_EQ(syscalls::pread(file.descriptor(), again.data(), 64, 0), 64);
  EXPECT_EQ(std::count(again.begin(), again.end(), 'a'), 64);  // the same bit once more
  EXPECT_EQ(syscalls::pread(file.descriptor(), again.data(), 64, 0), 32);
}

TEST(FaultPlan, delay_waits_and_then_does_the_call) {
  const Faults faults("open:1:delay30");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(File::open_read("/dev/null").is_open());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
}

TEST(FaultPlan, anything_else_is_refused_and_named) {
  for (const char* plan : {"read",
                           "read:1",
                           "read:0:EIO",
                           "read::EIO",
                           "read:x:EIO",
                           "read:-1:EIO",
                           "read:1+2:EIO",
                           "read:~:EIO",
                           "read:1:EWHAT",
                           "read:1:",
                           "reed:1:EIO",
                           ":1:EIO",
                           "read:1:delay",
                           "read:1:delayx",
                           "read:1:delay1000001",
                           "read:1:EIO,",
                           "read:1:EIO,,read:2:EIO",
                           "read:1:EIO:2",
                           "read:99999999999999999999:EIO",
                           ","}) {
    const std::string message = message_of<std::invalid_argument>([&] { machinery::set_fault_plan(plan); });
    EXPECT_EQ(message.find("fault plan: "), 0U) << "'" << plan << "' gave '" << message << "'";
  }
  machinery::set_fault_plan("");
}

TEST(FaultPlan, the_environment_sets_one) {
  ::setenv("HETSORT_FAULTS", "open:2:ENOSPC", 1);
  machinery::use_faults_of_environment();
  ::unsetenv("HETSORT_FAULTS");
  EXPECT_TRUE(File::open_read("/dev/null").is_open());
  EXPECT_EQ(message_of<Error>([] { File::open_read("/dev/null"); }), "open /dev/null: No space left on device");
  machinery::set_fault_plan("");
}

TEST(Traffic, counts_calls_and_confirmed_bytes) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const Traffic before = traffic();
  file.write_at(bytes_of("0123456789"), 0);
  std::string text(100, ' ');
  EXPECT_EQ(file.read_at(std::as_writable_bytes(std::span(text)), 4), 6U);
  const Traffic after = traffic();
  EXPECT_EQ(after.bytes_written - before.bytes_written, 10U);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 6U);
  const auto read = static_cast<std::size_t>(Call::kRead);
  EXPECT_EQ(after.calls[read] - before.calls[read], 2U);  // the second met the end
}

TEST(Traffic, failed_calls_are_calls_without_bytes) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const Traffic before = traffic();
  const std::uint64_t calls_before = calls(Call::kWrite);
  const Faults faults("write:1:EIO");
  EXPECT_THROW(file.write_at(bytes_of("text"), 0), Error);
  EXPECT_EQ(calls(Call::kWrite), calls_before + 1);
  EXPECT_EQ(traffic().bytes_written, before.bytes_written);
}

}  // namespace
}  // namespace hetsort::io::test
