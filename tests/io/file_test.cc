// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <array>
#include <thread>
#include <utility>

#include "io/calls/system_calls.h"
#include "io/publish.h"
#include "tests/io/scratch.h"
#include "tests/machinery/fault_plan.h"

namespace hetsort::io::test {
namespace {

using test::as_nobody;
using test::bytes_of;
using test::Faults;
using test::message_of;
using test::random_bytes;
using test::Scratch;
using test::write_all;

std::string open_error(const std::string& path) {
  return message_of<Error>([&] { File::open_read(path); });
}

TEST(File, what_cannot_be_read_is_an_error_that_names_path_and_reason) {
  const Scratch scratch;
  EXPECT_EQ(open_error(scratch / "none"), "open " + scratch / "none" + ": No such file or directory");
  EXPECT_EQ(open_error(scratch.path()), "read " + scratch.path() + ": Is a directory");
  write_all(scratch / "secret", "text");
  ::chmod((scratch / "secret").c_str(), 0);
  EXPECT_EQ(as_nobody([&] { return open_error(scratch / "secret").ends_with("Permission denied") ? 0 : 1; }), 0);
}

TEST(File, errors_carry_their_number) {
  try {
    File::open_read("/nonexistent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.error_number(), ENOENT);
  }
}

RC_GTEST_PROP(FileProperty, transfers_are_full_over_short_and_interrupted_calls, ()) {
  const Scratch scratch;
  const auto written = random_bytes(*rc::gen::inRange(1, 20'000), *rc::gen::arbitrary<std::uint32_t>());
  const auto offset = *rc::gen::inRange<std::uint64_t>(0, 10'000);
  const File file = File::create_nameless(scratch.path());
  const Faults faults("read:~3:short,write:~3:short,read:~4:EINTR,write:~4:EINTR");
  file.write_at(written, offset);
  std::vector<std::byte> read(written.size() + 10);
  RC_ASSERT(file.read_at(read, offset) == written.size());
  read.resize(written.size());
  RC_ASSERT(read == written);
}

TEST(File, streams_are_full_over_short_and_interrupted_calls) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto sent = random_bytes(300'000, 1);
  const Faults faults("read:~3:short,write:~3:short,read:~4:EINTR,write:~4:EINTR");
  std::thread writer([&] { File(ends[1], "pipe").write(sent); });
  const File reading(ends[0], "pipe");
  std::vector<std::byte> received(sent.size() + 1);
  EXPECT_EQ(reading.read(received), sent.size());
  writer.join();
  received.resize(sent.size());
  EXPECT_EQ(received, sent);
  EXPECT_EQ(reading.status().kind, FileKind::kStream);
}

TEST(File, reading_at_and_behind_the_end_gives_what_there_is) {
  const Scratch scratch;
  write_all(scratch / "file", "text");
  const File file = File::open_read(scratch / "file");
  std::vector<std::byte> into(10);
  EXPECT_EQ(file.read_at(into, 2), 2U);
  EXPECT_EQ(file.read_at(into, 4), 0U);
  EXPECT_EQ(file.read_at(into, 1'000'000), 0U);
}

TEST(File, failed_transfers_report_offset_and_progress) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const std::vector<std::byte> bytes(100);
  const Faults faults("write:1:short,write:2:ENOSPC,read:1:EIO");
  EXPECT_EQ(message_of<Error>([&] { file.write_at(bytes, 8); }),
            "write " + scratch.path() + ": No space left on device (50 of 100 bytes at offset 8 written)");
  std::vector<std::byte> into(10);
  EXPECT_EQ(message_of<Error>([&] { static_cast<void>(file.read_at(into, 3)); }),
            "read " + scratch.path() + ": Input/output error (at offset 3)");
}

TEST(File, a_full_device_is_an_error_for_streams_and_offsets) {
  const File full = File::open("/dev/full", O_WRONLY, 0, "open");
  EXPECT_EQ(message_of<Error>([&] { full.write(bytes_of("x")); }), "write /dev/full: No space left on device");
  EXPECT_NE(message_of<Error>([&] { full.write_at(bytes_of("x"), 0); }).find("No space left"), std::string::npos);
}

TEST(File, what_is_interrupted_for_ever_ends_as_an_error) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const Faults faults("open:1+:EINTR,read:1+:EINTR,write:1+:EINTR,sync:1+:EINTR,allocate:1+:EINTR,truncate:1+:EINTR");
  std::vector<std::byte> bytes(10);
  EXPECT_THROW(static_cast<void>(file.read_at(bytes, 0)), Error);
  EXPECT_THROW(file.write_at(bytes, 0), Error);
  EXPECT_THROW(file.sync(), Error);
  EXPECT_THROW(file.allocate(10), Error);
  EXPECT_THROW(file.truncate(10), Error);
  EXPECT_THROW(File::open_read("/dev/null"), Error);
  EXPECT_THROW(File::create_nameless(scratch.path()), Error);
}

TEST(File, nameless_files_are_private_and_leave_nothing) {
  const Scratch scratch;
  for (const char* plan : {"", "open:1:EINVAL"}) {  // the second: a file system that cannot make them
    const Faults faults(plan);
    const File file = File::create_nameless(scratch.path());
    EXPECT_TRUE(scratch.names().empty());
    EXPECT_EQ(file.status().mode, 0600U);
    file.write_at(bytes_of("text"), 0);
    EXPECT_EQ(file.status().size_bytes, 4U);
  }
  EXPECT_EQ(message_of<Error>([&] { File::create_nameless(scratch / "none"); }),
            "create a file in " + scratch / "none" + ": No such file or directory");
}

TEST(File, opened_anew_it_is_the_same_file_with_flags_of_its_own) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const File again = file.reopen(O_RDONLY);
  EXPECT_EQ(again.status().inode, file.status().inode);
  EXPECT_EQ(again.name(), file.name());
  EXPECT_EQ(::fcntl(again.descriptor(), F_GETFL) & O_ACCMODE, O_RDONLY);
  file.write_at(bytes_of("text"), 0);
  EXPECT_EQ(again.status().size_bytes, 4U);
  EXPECT_FALSE(File(1'000'000, "closed", false).reopen(O_RDONLY).is_open());
}

TEST(File, space_is_reserved_and_cut) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  file.allocate(0);
  EXPECT_EQ(file.status().size_bytes, 0U);
  file.allocate(100'000);
  EXPECT_EQ(file.status().size_bytes, 100'000U);
  file.truncate(10);
  EXPECT_EQ(file.status().size_bytes, 10U);
  const Faults faults("allocate:1:ENOSPC");
  EXPECT_EQ(message_of<Error>([&] { file.allocate(5); }),
            "reserve 5 bytes in " + scratch.path() + ": No space left on device");
}

TEST(File, file_systems_and_filters_that_cannot_reserve_space_are_no_error) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  for (const char* plan : {"allocate:1:ENOSYS", "allocate:1:EPERM"}) {
    const Faults faults(plan);
    EXPECT_NO_THROW(file.allocate(5)) << plan;
    EXPECT_EQ(machinery::faults_fired(), 1U) << plan;
  }
}

TEST(File, is_checked_for_reading_without_waiting_for_a_writer) {
  const Scratch scratch;
  const auto error = [](const std::string& path) { return message_of<Error>([&] { File::check_readable(path); }); };
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error(scratch / "pipe"), "");
  EXPECT_EQ(error(scratch / "none"), open_error(scratch / "none"));
  EXPECT_EQ(error(scratch.path()), open_error(scratch.path()));
  write_all(scratch / "secret", "text");
  EXPECT_EQ(error(scratch / "secret"), "");
  ::chmod((scratch / "secret").c_str(), 0);
  EXPECT_EQ(as_nobody([&] { return error(scratch / "secret").ends_with("Permission denied") ? 0 : 1; }), 0);
}

TEST(File, content_behind_a_reported_size_of_0_is_found) {
  const Scratch scratch;
  write_all(scratch / "empty", "");
  write_all(scratch / "full", "text");
  EXPECT_TRUE(File::open_read("/proc/self/status").hides_size());
  EXPECT_TRUE(File::open_read("/sys/devices/system/cpu/online").hides_size());
  std::filesystem::resize_file(scratch / "empty", 5000);
  EXPECT_FALSE(File::open_read(scratch / "empty").hides_size()) << "a hole";
  std::filesystem::resize_file(scratch / "empty", 0);
  EXPECT_FALSE(File::open_read(scratch / "empty").hides_size());
  EXPECT_FALSE(File::open_read(scratch / "full").hides_size());
  EXPECT_FALSE(File::open_read("/dev/zero").hides_size()) << "a stream by its kind";
}

TEST(File, sizes_beyond_32_bits_are_kept) {
  const Scratch scratch;
  const File file = File::create_nameless(scratch.path());
  const std::uint64_t far = (std::uint64_t{5} << 30) + 3;
  file.write_at(bytes_of("far"), far);  // a hole before it
  EXPECT_EQ(file.status().size_bytes, far + 3);
  std::string text(3, ' ');
  EXPECT_EQ(file.read_at(std::as_writable_bytes(std::span(text)), far), 3U);
  EXPECT_EQ(text, "far");
}

TEST(File, syncing_what_cannot_be_synced_is_no_error) {
  EXPECT_NO_THROW(File::open("/dev/null", O_WRONLY, 0, "open").sync());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const File reading(ends[0], "pipe");
  EXPECT_NO_THROW(File(ends[1], "pipe").sync());
}

TEST(File, moves_leave_the_source_closed_and_close_once) {
  File first = File::open_read("/dev/null");
  const int fd = first.descriptor();
  File second(std::move(first));
  EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): that is what is shown
  EXPECT_EQ(second.descriptor(), fd);
  File third;
  third = std::move(second);
  third.close();
  EXPECT_FALSE(third.is_open());
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST(File, borrowed_descriptors_stay_open) {
  const File owner = File::open_read("/dev/null");
  { const File borrowed(owner.descriptor(), "null", false); }
  EXPECT_NE(::fcntl(owner.descriptor(), F_GETFD), -1);
  EXPECT_EQ(standard_input().descriptor(), 0);
  EXPECT_EQ(standard_output().descriptor(), 1);
}

TEST(File, descriptors_are_not_inherited_by_programs_started) {
  EXPECT_NE(::fcntl(File::open_read("/dev/null").descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Error, reads_operation_path_reason_and_detail) {
  EXPECT_STREQ(Error("write", "/out", ENOSPC, "1 of 2 GB written").what(),
               "write /out: No space left on device (1 of 2 GB written)");
  EXPECT_STREQ(Error("read", "/in", EIO).what(), "read /in: Input/output error");
  EXPECT_STREQ(Error("use", "/x", "odd").what(), "use /x: odd");
  EXPECT_EQ(Error("use", "/x", "odd").error_number(), 0);
}

}  // namespace
}  // namespace hetsort::io::test
