// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>

#include "io/error.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

TEST(TempFile, is_gone_with_its_owner) {
  const test::Scratch scratch;
  std::string path;
  {
    const TempFile file(scratch.path(), "x");
    path = file.path();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempFile, leaves_a_name_to_the_process_of_another_machine_that_has_it) {
  const test::Scratch scratch;
  std::string path;
  path = TempFile(scratch.path(), "x").path();
  // Of the same number there, and alive.
  const File theirs = File::open(path, O_RDWR | O_CREAT, 0600, "create");
  ASSERT_EQ(::flock(theirs.descriptor(), LOCK_EX), 0);
  {
    const TempFile mine(scratch.path(), "x");
    EXPECT_NE(mine.path(), path);
    EXPECT_TRUE(std::filesystem::exists(mine.path()));
  }
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(TempFile, of_a_folder_that_is_missing_is_an_error) {
  const test::Scratch scratch;
  EXPECT_THROW(TempFile(scratch.path() + "/none", "x"), Error);
}

}  // namespace
}  // namespace hetsort::io::test
