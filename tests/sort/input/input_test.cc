// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/checked.h"
#include "io/file_system.h"
#include "sort/input/segment_reader.h"
#include "sort/model/memory_plan.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

/// Inputs whose records have these sizes, opened for direct I/O from a mebibyte on.
class Files {
 public:
  Files(const std::vector<std::size_t>& sizes, std::size_t record_bytes, io::Access access,
        std::size_t header_bytes = 0) {
    std::mt19937_64 random(test_seed());
    std::vector<std::string> paths;
    for (const std::size_t size : sizes) {
      const Bytes bytes = make_records({Distribution::kUniform, {4, 0, 1}, (size + 3) / 4, random()});
      paths.push_back(folder_ / std::to_string(paths.size()));
      const auto part = std::span(bytes).first(size);
      write_bytes(paths.back(), with_header(make_header(header_bytes, paths.size()), part));
      all_.insert(all_.end(), part.begin(), part.end());
    }
    input_ = std::make_unique<Input>(
        paths, InputFormat{.record_bytes = record_bytes, .header = {.bytes = header_bytes}}, access);
  }

  Input& input() { return *input_; }
  const Bytes& all() const { return all_; }
  const Scratch& folder() const { return folder_; }

 private:
  Scratch folder_;
  Bytes all_;
  std::unique_ptr<Input> input_;
};

/// All of a file whose size is not known.
Bytes read_stream_bytes(const std::string& path) {
  const std::string text = io::test::read_all(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Input, whole_files_in_memory_can_be_mapped) {
  const Scratch folder(io::test::memory_folder());
  const bool possible = io::storage_of(folder.path()) == io::Storage::kMemory;
  write_bytes(folder / "large", Bytes(1 << 20));
  write_bytes(folder / "small", Bytes(1000));
  write_bytes(folder / "empty", {});
  write_bytes(folder / "holes", {});
  std::filesystem::resize_file(folder / "holes", 1 << 20);
  const auto mappable = [&](const std::vector<std::string>& names, io::Access access = io::Access::kAuto) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder / name);
    return Input(paths, {}, access).can_be_mapped();
  };
  EXPECT_EQ(mappable({"large"}), possible);
  EXPECT_EQ(mappable({"large", "empty", "large"}), possible);
  EXPECT_FALSE(mappable({"large", "small"}));
  EXPECT_FALSE(mappable({"holes"})) << "looking at a hole would fill it";
  EXPECT_FALSE(mappable({"large"}, io::Access::kBuffered));
  EXPECT_FALSE(mappable({"large"}, io::Access::kThreads));

  Input input({folder / "large"}, {}, io::Access::kAuto);
  input.keep_apart_from(io::File::open_read(folder / "small").status());
  EXPECT_EQ(input.can_be_mapped(), possible);
  input.keep_apart_from(io::File::open_read(folder / "large").status());
  EXPECT_FALSE(input.can_be_mapped()) << "it will be written over";
}

TEST(Input, files_that_hide_their_size_are_streams) {
  const Scratch folder;
  write_bytes(folder / "empty", {});
  Input hidden({folder / "empty", "/proc/filesystems"}, {}, io::Access::kAuto);
  EXPECT_TRUE(hidden.is_stream());
  EXPECT_EQ(hidden.stream_name(), "/proc/filesystems");
  Bytes bytes(1 << 20);
  bytes.resize(hidden.read_stream(bytes));
  EXPECT_EQ(bytes, read_stream_bytes("/proc/filesystems"));
  EXPECT_FALSE(Input({folder / "empty"}, {}, io::Access::kAuto).is_stream());
}

TEST(Input, files_that_have_less_than_their_size_are_streams) {
  const std::string path = "/sys/devices/system/cpu/online";
  ASSERT_EQ(std::filesystem::file_size(path), kPageBytes);
  Input input({path}, {.record_bytes = 1, .terminator = std::byte{'\n'}}, io::Access::kAuto);
  EXPECT_TRUE(input.is_stream());
  Bytes bytes(kPageBytes);
  bytes.resize(input.read_stream(bytes));
  EXPECT_EQ(bytes, read_stream_bytes(path));
}

TEST(Input, text_and_other_formats_are_refused_in_files_and_streams) {
  const Scratch folder;
  const Bytes zeros(300);
  const Bytes text(300, std::byte{'x'});
  write_bytes(folder / "text", text);
  write_bytes(folder / "zeros", zeros);
  const InputFormat assumed{.record_bytes = 100, .content = {.refused = io::Refused::kFormatsAndText}};
  EXPECT_THROW(Input({folder / "zeros", folder / "text"}, assumed, io::Access::kAuto), io::ContentError);
  EXPECT_NO_THROW(Input({folder / "text"}, {.record_bytes = 100}, io::Access::kAuto));
  Bytes read(1000);
  Pipe of_zeros;
  Pipe of_text;
  Input streams({of_zeros.read_from(zeros), of_text.read_from(text)}, assumed, io::Access::kAuto);
  EXPECT_EQ(streams.read_stream(std::span(read).first(300)), 300U);
  EXPECT_THROW(streams.read_stream(std::span(read).first(1000)), io::ContentError);
}

/// The bytes that segments stand for, read into memory and put together in their order.
Bytes read_segments(Input& input, const std::vector<Segment>& segments, std::uint64_t memory_bytes) {
  const io::Buffer memory(memory_bytes + kPageBytes);
  const auto queue = io::make_queue(input.backend(), 3);
  SegmentReader reader(*queue, memory.data());
  for (const Segment& segment : segments) {
    while (reader.full()) reader.wait();
    reader.start(segment);
  }
  while (!reader.idle()) reader.wait();
  Bytes bytes;
  for (const Segment& segment : segments) {
    const auto part = memory.span().subspan(segment.memory_offset, segment.bytes);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

/// Segments lie one behind the other, direct ones congruent to their file and alone in their pages.
void check_places(const std::vector<Segment>& segments, std::uint64_t memory_bytes) {
  std::uint64_t end = 0;
  for (const Segment& segment : segments) {
    std::uint64_t from = segment.memory_offset;
    std::uint64_t to = from + segment.bytes;
    if (segment.input->direct) {
      RC_ASSERT(segment.memory_offset % kPageBytes == segment.file_offset % kPageBytes);
      from = from / kPageBytes * kPageBytes;
      to = round_up(to, kPageBytes);
    }
    RC_ASSERT(from >= end);
    end = to;
  }
  RC_ASSERT(end <= memory_bytes);
  RC_ASSERT(memory_bytes % kPageBytes == 0U);
}

void check_pieces(const std::vector<Segment>& segments, const std::vector<Segment>& pieces, std::size_t record_bytes) {
  auto piece = pieces.begin();
  for (const Segment& segment : segments) {
    for (std::uint64_t done = 0; done < segment.bytes; ++piece) {
      RC_ASSERT(piece != pieces.end());
      RC_ASSERT(piece->input == segment.input);
      RC_ASSERT(piece->bytes > 0U);
      RC_ASSERT(piece->bytes % record_bytes == 0U);
      RC_ASSERT(piece->file_offset == segment.file_offset + done);
      RC_ASSERT(piece->memory_offset == segment.memory_offset + done);
      done += piece->bytes;
      RC_ASSERT(done <= segment.bytes);
    }
  }
  RC_ASSERT(piece == pieces.end());
}

RC_GTEST_PROP(InputPlaces, cover_any_range_exactly_within_the_room_of_a_run, ()) {
  const std::size_t record = *rc::gen::element<std::size_t>(1, 99, 100, 257, 4096, 5000);
  std::vector<std::size_t> sizes;
  for (int i = *rc::gen::inRange(1, 5); i > 0; --i)
    sizes.push_back(*rc::gen::element<std::size_t>(0, 1, 50, 40'000, 1'100'000) / record * record);
  const std::size_t header = *rc::gen::element<std::size_t>(0, 0, 128, 4096, 5000);
  Files files(sizes, record, *rc::gen::element(io::Access::kThreads, io::Access::kBuffered), header);
  Input& input = files.input();
  const std::uint64_t records = input.total_bytes() / record;
  const std::uint64_t first = *rc::gen::inRange<std::uint64_t>(0, records + 1);
  const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(0, records - first + 1);
  std::uint64_t memory_bytes = 0;
  const std::vector<Segment> segments = input.place(first * record, count * record, memory_bytes);
  check_places(segments, memory_bytes);
  RC_ASSERT(memory_bytes + kReadableSlackBytes <= run_room_bytes(count * record));
  const std::uint64_t piece_bytes = *rc::gen::element<std::uint64_t>(5000, 65'536, 1 << 20);
  const std::vector<Segment> pieces = cut(segments, piece_bytes, record);
  check_pieces(segments, pieces, record);
  const Bytes expected(files.all().begin() + static_cast<std::ptrdiff_t>(first * record),
                       files.all().begin() + static_cast<std::ptrdiff_t>((first + count) * record));
  // Cut at pages, as they are read: pieces that share none.
  RC_ASSERT(read_segments(input, cut(segments, piece_bytes, 1), memory_bytes) == expected);
}

TEST(InputPlaces, of_few_records_behind_long_headers_are_within_the_room_of_a_run) {
  const Scratch folder;
  constexpr std::uint64_t kHeaderBytes = std::uint64_t{1} << 20;
  std::vector<std::string> paths;
  for (int file = 0; file < 20; ++file) {
    paths.push_back(folder / std::to_string(file));
    write_bytes(paths.back(), {});
    std::filesystem::resize_file(paths.back(), kHeaderBytes + 100);
  }
  for (const io::Access access : {io::Access::kThreads, io::Access::kAuto}) {
    const Input input(paths, {.record_bytes = 100, .header = {.bytes = kHeaderBytes}}, access);
    std::uint64_t memory_bytes = 0;
    EXPECT_EQ(input.place(0, input.total_bytes(), memory_bytes).size(), paths.size());
    EXPECT_LE(memory_bytes, run_room_bytes(input.total_bytes()));
  }
}

TEST(Cut, without_regard_to_records_ends_all_pieces_but_the_last_at_whole_pages) {
  for (const std::uint64_t offset : {0U, 257U, 4095U, 5 * 4096U}) {
    const Segment segment{nullptr, offset, 3'000'003, offset};
    std::uint64_t end = offset;
    for (const Segment& piece : cut({&segment, 1}, std::uint64_t{1} << 20, 1)) {
      EXPECT_TRUE(piece.file_offset == offset || piece.file_offset % kPageBytes == 0);
      EXPECT_EQ(piece.file_offset, end);
      end += piece.bytes;
    }
    EXPECT_EQ(end, offset + segment.bytes);
  }
}

TEST(Cut, ends_pieces_at_whole_pages_where_records_allow_it) {
  const Segment segment{nullptr, 100 * 4096 * 3, 100 * 100'000, 0};
  const std::vector<Segment> pieces = cut({&segment, 1}, std::uint64_t{1} << 20, 100);
  ASSERT_GT(pieces.size(), 5U);
  for (std::size_t piece = 0; piece + 1 < pieces.size(); ++piece)
    EXPECT_EQ((pieces[piece].file_offset + pieces[piece].bytes) % kPageBytes, 0U);
}

TEST(Input, large_files_are_direct_and_small_ones_are_not) {
  Files files({std::size_t{2} << 20, 4096, (std::size_t{1} << 20) - 1, 0}, 1, io::Access::kThreads);
  std::vector<bool> direct;
  for (const InputFile& file : files.input().files()) direct.push_back(file.direct);
  EXPECT_EQ(direct[1] || direct[2] || direct[3], false);
  EXPECT_EQ(direct[0], files.input().backend() == io::Backend::kThreads);
}

TEST(Input, what_is_in_the_page_cache_counts_by_its_bytes_unless_direct_io_reads_it) {
  for (const io::Access access : {io::Access::kBuffered, io::Access::kThreads}) {
    Files files({std::size_t{3} << 20, std::size_t{1} << 20}, 4, access);
    const std::vector<InputFile>& both = files.input().files();
    const auto part = [&](std::size_t file) { return both[file].direct ? 0 : io::cached_fraction(both[file].file); };
    EXPECT_EQ(files.input().cached_fraction(), both[0].direct ? 0 : 1);
    both[0].file.sync();
    ::posix_fadvise(both[0].file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);  // storage in memory keeps it
    EXPECT_DOUBLE_EQ(files.input().cached_fraction(), 0.75 * part(0) + 0.25 * part(1));
  }
  EXPECT_EQ(Input(100).cached_fraction(), 0) << "a stream";
}

TEST(Input, refuses_a_size_that_is_no_multiple_of_the_record_with_offset_and_rest) {
  for (const std::size_t size : {1U, 99U, 101U, 299U, 100'050U}) {
    const std::string message = io::test::message_of<io::Error>([&] { Files({200, size}, 100, io::Access::kAuto); });
    EXPECT_NE(message.find("/1: " + std::to_string(size) + " bytes"), std::string::npos) << message;
    EXPECT_NE(message.find(std::to_string(size % 100) + " left over at offset " + std::to_string(size - size % 100)),
              std::string::npos)
        << message;
  }
}

TEST(Input, refuses_folders_and_what_is_not_there) {
  const Scratch folder;
  EXPECT_THROW(Input({folder.path()}, {.record_bytes = 100}, io::Access::kAuto), io::Error);
  EXPECT_THROW(Input({folder / "nothing"}, {.record_bytes = 100}, io::Access::kAuto), io::Error);
}

TEST(Input, notices_files_that_grew_or_shrank) {
  for (const std::size_t now : {0U, 900U, 1100U}) {
    Files files({500, 1000}, 100, io::Access::kAuto);
    EXPECT_NO_THROW(files.input().check_unchanged());
    write_bytes(files.folder() / "1", Bytes(now));
    const std::string message = io::test::message_of<io::Error>([&] { files.input().check_unchanged(); });
    EXPECT_NE(message.find("/1: changed from 1000 to " + std::to_string(now) + " bytes"), std::string::npos) << message;
  }
}

TEST(Input, a_file_that_is_truncated_while_it_is_read_is_an_error_with_its_offset) {
  for (const io::Access access : {io::Access::kThreads, io::Access::kBuffered}) {
    Files files({2'000'000}, 100, access);
    std::uint64_t memory_bytes = 0;
    const std::vector<Segment> segments = files.input().place(0, 2'000'000, memory_bytes);
    write_bytes(files.folder() / "0", Bytes(1'234'567));
    const std::string message =
        io::test::message_of<io::Error>([&] { read_segments(files.input(), segments, memory_bytes); });
    EXPECT_NE(message.find("/0: ends at offset 1234567, 765433 bytes short"), std::string::npos) << message;
  }
}

TEST(Input, streams_are_read_through_all_inputs_and_must_end_with_a_record) {
  const Bytes bytes = io::test::random_bytes(250'000, test_seed());
  Pipe whole;
  Input input({whole.read_from(bytes)}, {.record_bytes = 100}, io::Access::kAuto);
  ASSERT_TRUE(input.is_stream());
  Bytes read(300'000);
  EXPECT_EQ(input.read_stream(std::span(read).first(100'000)), 100'000U);
  EXPECT_EQ(input.read_stream(std::span(read).subspan(100'000)), 150'000U);
  EXPECT_EQ(input.read_stream(read), 0U);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), read.begin()));
  Pipe torn;
  Input ends_early({torn.read_from(std::span(bytes).first(249'999))}, {.record_bytes = 100}, io::Access::kAuto);
  EXPECT_THROW(ends_early.read_stream(read), io::Error);
}

TEST(Input, files_of_more_bytes_together_than_can_be_sorted_are_refused) {
  constexpr std::uint64_t kMaxFileBytes = (std::uint64_t{1} << 63) - 1;
  std::vector<io::File> files;  // in memory: few disks hold sparse files of that size
  std::vector<std::string> paths;
  for (const std::uint64_t size : {kMaxFileBytes, kMaxFileBytes, std::uint64_t{10}}) {
    const int descriptor = ::memfd_create("large", MFD_CLOEXEC);
    files.emplace_back(descriptor, "large");
    ASSERT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
    paths.push_back("/proc/self/fd/" + std::to_string(descriptor));
  }
  const std::string message =
      io::test::message_of<io::SizeError>([&] { const Input input(paths, {}, io::Access::kAuto); });
  EXPECT_NE(message.find("the INPUTs are together more than 4 EiB"), std::string::npos);
}

}  // namespace
}  // namespace hetsort::sort::test
