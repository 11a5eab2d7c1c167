// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/calls/buffer.h"
#include "tests/io/scratch.h"
#include "tests/machinery/fault_plan.h"

namespace hetsort::io::test {
namespace {

constexpr std::size_t kPage = Buffer::kAlignmentBytes;

/// A file of three pages and a bit, laid over the second page of a buffer and the ones behind.
class MappedFilesTest : public testing::Test {
 protected:
  MappedFilesTest() : bytes_(random_bytes(3 * kPage + 100, 7)), buffer_(8 * kPage) {
    write_all(path_, {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
    file_ = File::open_read(path_);
    std::ranges::fill(buffer_.span(), std::byte{1});
  }
  std::span<std::byte> part() const { return buffer_.span().subspan(kPage, bytes_.size()); }

  Scratch folder_{memory_folder()};
  std::string path_ = folder_ / "file";
  std::vector<std::byte> bytes_;
  Buffer buffer_;
  File file_;
  MappedFiles mapped_;
};

TEST(MappedFiles, need_pages_that_are_not_larger_than_the_alignment_of_records) {
  EXPECT_TRUE(can_map_files(4096));
  EXPECT_FALSE(can_map_files(16384));
  EXPECT_FALSE(can_map_files(65536));
}

TEST_F(MappedFilesTest, show_the_file_and_leave_the_memory_around_it) {
  mapped_.lay_over(file_, part(), 0);
  populate(file_, part());
  EXPECT_TRUE(std::ranges::equal(part(), bytes_));
  EXPECT_EQ(buffer_.data()[kPage - 1], std::byte{1});
  EXPECT_EQ(part().data()[part().size()], std::byte{0}) << "behind the file's end";
  EXPECT_EQ(buffer_.data()[5 * kPage], std::byte{1});
  mapped_.let_go(0, 2);
  mapped_.let_go(1, 2);
  EXPECT_TRUE(std::ranges::equal(part(), bytes_)) << "what was let go comes back";
}

TEST_F(MappedFilesTest, may_begin_at_any_page_of_the_file) {
  const auto rest = part().subspan(2 * kPage);
  mapped_.lay_over(file_, rest, 2 * kPage);
  EXPECT_TRUE(std::ranges::equal(rest, std::span(bytes_).subspan(2 * kPage)));
}

TEST_F(MappedFilesTest, populating_counts_as_reading_whole_pages) {
  mapped_.lay_over(file_, part(), 0);
  const auto of_reads = [] { return traffic().calls[static_cast<std::size_t>(Call::kRead)]; };
  const std::uint64_t calls = of_reads();
  const std::uint64_t bytes = traffic().bytes_read;
  populate(file_, part().subspan(10, kPage));
  EXPECT_EQ(of_reads(), calls + 1);
  EXPECT_GE(traffic().bytes_read, bytes + kPage);
  const Faults faults("read:1:short");
  populate(file_, part());
  EXPECT_EQ(of_reads(), calls + 3) << "the rest is asked for, too";
}

TEST_F(MappedFilesTest, a_file_that_was_cut_is_an_error) {
  mapped_.lay_over(file_, part(), 0);
  std::filesystem::resize_file(path_, kPage);
  const std::string message = message_of<Error>([&] { populate(file_, part()); });
  EXPECT_EQ(message, "read " + path_ + ": truncated while it was read");
  EXPECT_EQ(message_of<Error>([&] { populate(file_, part().first(kPage)); }), "");
}

TEST_F(MappedFilesTest, faults_of_the_plan_come_out) {
  {
    const Faults faults("map:1:ENOMEM");
    EXPECT_EQ(message_of<Error>([&] { mapped_.lay_over(file_, part(), 0); }),
              "map " + path_ + ": Cannot allocate memory");
  }
  mapped_.lay_over(file_, part(), 0);
  const Faults faults("read:1:EIO,read:2:EINTR,read:3:short");
  EXPECT_EQ(message_of<Error>([&] { populate(file_, part()); }), "read " + path_ + ": Input/output error");
  EXPECT_EQ(message_of<Error>([&] { populate(file_, part()); }), "");
  EXPECT_EQ(machinery::faults_fired(), 3U);
}

TEST_F(MappedFilesTest, are_known_by_address_while_they_live) {
  EXPECT_EQ(mapped_file_at(part().data()), nullptr);
  {
    MappedFiles mapped;
    mapped.lay_over(file_, part(), 0);
    mapped.announce();
    EXPECT_EQ(mapped_file_at(part().data() + 5), path_);
    EXPECT_EQ(mapped_file_at(part().data() - 1), nullptr);
    EXPECT_EQ(mapped_file_at(part().data() + part().size()), nullptr);
  }
  EXPECT_EQ(mapped_file_at(part().data()), nullptr);
}

}  // namespace
}  // namespace hetsort::io::test
