// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/transfer/access.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "io/calls/buffer.h"
#include "io/file_system.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

using test::random_bytes;
using test::Scratch;

constexpr std::uint64_t kBytes = 1 << 20;

/// A nameless file of a megabyte in the page cache.
File cached_file(const std::string& folder) {
  File file = File::create_nameless(folder);
  file.write_at(random_bytes(kBytes, 1), 0);
  return file;
}

/// Puts what is written to disk and out of the page cache.
void drop_from_cache(const File& file) {
  file.sync();
  ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

TEST(CachedShare, is_one_for_cached_files_and_zero_for_others) {
  const Scratch scratch;
  const File file = cached_file(scratch.path());
  EXPECT_EQ(cached_fraction(file), 1.0);
  EXPECT_EQ(cached_fraction(File::create_nameless(scratch.path())), 0.0);
  if (storage_of(file.descriptor()) != Storage::kMemory) {
    drop_from_cache(file);
    EXPECT_EQ(cached_fraction(file), 0.0);
    EXPECT_EQ(cached_fraction(file), 0.0);  // asking brings nothing in
  }
}

TEST(CachedShare, files_smaller_than_the_sample_work) {
  const Scratch scratch;
  for (const std::size_t bytes : {1, 5, 63, 64, 65, 4097}) {
    const File file = File::create_nameless(scratch.path());
    file.write_at(random_bytes(bytes, 2), 0);
    EXPECT_EQ(cached_fraction(file), 1.0) << bytes;
  }
}

TEST(DirectIo, works_with_the_reported_alignment_where_possible) {
  const Scratch scratch;
  const File file = cached_file(scratch.path());
  const DirectIo direct = direct_io(file);
  EXPECT_EQ(::fcntl(file.descriptor(), F_GETFL) & O_DIRECT, 0);
  EXPECT_GT(direct.memory_alignment_bytes, 0U);
  EXPECT_GT(direct.offset_alignment_bytes, 0U);
  if (direct.possible) {
    const Buffer buffer(2 * direct.offset_alignment_bytes);
    ASSERT_TRUE(file.set_direct(true));
    EXPECT_EQ(file.read_at(buffer.span(), direct.offset_alignment_bytes), buffer.size_bytes());
  }
}

TEST(DirectIo, streams_and_devices_have_none) {
  EXPECT_FALSE(direct_io(File::open_read("/dev/null")).possible);
  EXPECT_FALSE(direct_io(File::open_read("/proc/self/status")).possible);
}

TEST(ChooseBackend, what_is_asked_for_is_done_where_direct_transfers_are_possible) {
  const Scratch scratch;
  const File file = cached_file(scratch.path());
  EXPECT_EQ(choose_backend(file, Access::kBuffered), Backend::kBuffered);
  const bool direct = direct_io(file).possible;
  EXPECT_EQ(choose_backend(file, Access::kThreads), direct ? Backend::kThreads : Backend::kBuffered);
  EXPECT_EQ(choose_backend(file, Access::kUring), direct ? Backend::kUring : Backend::kBuffered);
}

TEST(ChooseBackend, cached_files_are_read_buffered_and_others_directly) {
  const Scratch scratch;
  const File file = cached_file(scratch.path());
  EXPECT_EQ(choose_backend(file, Access::kAuto), Backend::kBuffered);
  drop_from_cache(file);
  const bool disk = storage_of(file.descriptor()) != Storage::kMemory && direct_io(file).possible;
  EXPECT_EQ(choose_backend(file, Access::kAuto), disk ? direct_backend(Access::kAuto) : Backend::kBuffered);
}

TEST(ChooseBackend, cached_files_are_written_directly) {
  const Scratch scratch;
  const File file = cached_file(scratch.path());
  const bool disk = storage_of(file.descriptor()) != Storage::kMemory && direct_io(file).possible;
  EXPECT_EQ(choose_write_backend(file, Access::kAuto), disk ? direct_backend(Access::kAuto) : Backend::kBuffered);
  EXPECT_EQ(choose_write_backend(file, Access::kBuffered), Backend::kBuffered);
}

TEST(ChooseBackend, storage_in_memory_is_buffered) {
  const int fd = ::memfd_create("hetsort-test", MFD_CLOEXEC);
  const File file(fd, "memory");
  file.truncate(kBytes);
  EXPECT_EQ(storage_of(fd), Storage::kMemory);
  EXPECT_EQ(choose_backend(file, Access::kAuto), Backend::kBuffered);
}

TEST(DirectBackend, is_as_asked_else_the_best_that_is_allowed) {
  EXPECT_EQ(direct_backend(Access::kUring), Backend::kUring);
  EXPECT_EQ(direct_backend(Access::kThreads), Backend::kThreads);
  EXPECT_EQ(direct_backend(Access::kBuffered), Backend::kBuffered);
  EXPECT_EQ(direct_backend(Access::kAuto), uring_available() ? Backend::kUring : Backend::kThreads);
}

}  // namespace
}  // namespace hetsort::io::test
