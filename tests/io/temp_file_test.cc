// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_file.h"

#include <gtest/gtest.h>

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

TEST(TempFile, two_of_one_name_do_not_meet) {
  const test::Scratch scratch;
  const TempFile first(scratch.path(), "x");
  {
    const TempFile second(scratch.path(), "x");
    EXPECT_NE(first.path(), second.path());
    EXPECT_EQ(scratch.names().size(), 2U);
  }
  EXPECT_TRUE(std::filesystem::exists(first.path()));
}

TEST(TempFile, of_a_folder_that_is_missing_is_an_error) {
  const test::Scratch scratch;
  EXPECT_THROW(TempFile(scratch.path() + "/none", "x"), Error);
}

}  // namespace
}  // namespace hetsort::io::test
