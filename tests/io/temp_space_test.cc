// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_space.h"

#include <sys/stat.h>

#include <array>

#include "io/error.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

using test::as_nobody;
using test::Faults;
using test::message_of;
using test::Scratch;
using test::write_all;

constexpr std::uint64_t kExbibyte = std::uint64_t{1} << 60;

std::string inspect_error(const std::string& path) {
  return message_of<Error>([&] { inspect_space(path, "temp directory"); });
}

TEST(InspectSpace, reports_device_and_free_bytes_and_leaves_nothing) {
  const Scratch scratch;
  const Space space = inspect_space(scratch.path(), "temp directory");
  struct stat status {};
  ASSERT_EQ(::stat(scratch.path().c_str(), &status), 0);
  EXPECT_EQ(space.device, status.st_dev);
  EXPECT_GT(space.free_bytes, 0U);
  EXPECT_EQ(space.path, scratch.path());
  EXPECT_TRUE(scratch.names().empty());
}

TEST(InspectSpace, missing_and_wrong_folders_are_errors_with_their_reason) {
  const Scratch scratch;
  write_all(scratch / "file", "");
  EXPECT_EQ(inspect_error(scratch / "none"), "temp directory " + scratch / "none" + ": No such file or directory");
  EXPECT_EQ(inspect_error(scratch / "file"), "temp directory " + scratch / "file" + ": Not a directory");
  EXPECT_NE(inspect_error("/proc/self"), "");
}

TEST(InspectSpace, folder_without_write_permission_is_an_error) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "folder");
  ::chmod((scratch / "folder").c_str(), 0555);
  EXPECT_EQ(as_nobody([&] {
              const std::string expected = "temp directory " + scratch / "folder" + ": Permission denied";
              return inspect_error(scratch / "folder") == expected ? 0 : 1;
            }),
            0);
}

TEST(InspectSpace, a_folder_on_a_full_or_broken_disk_is_an_error) {
  const Scratch scratch;
  const Faults faults("open:2:ENOSPC");
  EXPECT_EQ(inspect_error(scratch.path()), "temp directory " + scratch.path() + ": No space left on device");
}

TEST(CheckSpace, what_fits_passes) {
  const Scratch scratch;
  const std::array<SpaceNeed, 2> needs{{{"temp directory", scratch.path(), 4096}, {"output folder", "/tmp", 0}}};
  EXPECT_NO_THROW(check_space(needs));
  EXPECT_NO_THROW(check_space({}));
}

TEST(CheckSpace, the_error_names_the_needed_and_the_free_space) {
  const Scratch scratch;
  const std::array<SpaceNeed, 1> needs{{{"temp directory", scratch.path(), kExbibyte}}};
  const std::string message = message_of<Error>([&] { check_space(needs); });
  EXPECT_EQ(message.find("temp directory " + scratch.path() + ": needs 1.0 EiB, "), 0U) << message;
  EXPECT_TRUE(message.ends_with(" free")) << message;
}

TEST(CheckSpace, folders_on_one_device_share_its_space) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "other");
  const std::uint64_t most = inspect_space(scratch.path(), "temp directory").free_bytes;
  const std::array<SpaceNeed, 2> needs{
      {{"temp directory", scratch.path(), most / 8 * 5}, {"output folder", scratch / "other", most / 8 * 5}}};
  EXPECT_NO_THROW(check_space(std::span(needs).first(1)));
  EXPECT_NO_THROW(check_space(std::span(needs).last(1)));
  const std::string message = message_of<Error>([&] { check_space(needs); });
  const std::string both = "temp directory " + scratch.path() + " with output folder " + scratch / "other";
  EXPECT_EQ(message.find(both + ": needs "), 0U) << message;
}

TEST(CheckSpace, needs_beyond_64_bits_do_not_wrap_around) {
  const Scratch scratch;
  const std::array<SpaceNeed, 2> needs{
      {{"temp directory", scratch.path(), UINT64_MAX}, {"temp directory", scratch.path(), UINT64_MAX}}};
  EXPECT_THROW(check_space(needs), Error);
}

TEST(HumanSize, shows_one_digit_of_the_largest_unit_that_fits) {
  EXPECT_EQ(human_size(0), "0 bytes");
  EXPECT_EQ(human_size(1), "1 byte");
  EXPECT_EQ(human_size(1023), "1023 bytes");
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(1536), "1.5 KiB");
  EXPECT_EQ(human_size((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_size(std::uint64_t{8} << 30), "8.0 GiB");
  EXPECT_EQ(human_size(UINT64_MAX), "16.0 EiB");
}

}  // namespace
}  // namespace hetsort::io::test
