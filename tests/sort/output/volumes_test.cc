// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs of several files, where it matters how the records come to them: large ones that are written with direct I/O,
// inputs that are merged as they are, and lines that are longer than a file.
#include <sys/stat.h>

#include "sort/output/output_sinks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

const RecordLayout kVolumesLayout{.record_bytes = 100, .key_offset = 0, .key_bytes = 10};

Bytes bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> texts_of(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(io::test::read_all(path));
  return texts;
}

/// A sort of `records` into so many files of a folder.
class VolumesOf {
 public:
  VolumesOf(const RecordLayout& layout, const Bytes& records, std::size_t volumes) {
    write_bytes(folder_ / "in", records);
    options = sort_of_files({folder_ / "in"}, folder_ / "out", layout);
    options.output.paths = volume_names(folder_ / "out", volumes);
    options.spill.directories = {temp_.path()};
    options.memory_bytes = std::uint64_t{256} << 20;
    options.threads = 2;
    options.output.sync = false;
  }
  const std::vector<std::string>& paths() const { return options.output.paths; }

  SortOptions options;

 private:
  Scratch folder_;
  Scratch temp_;
};

TEST(Volumes, that_are_large_are_right_with_direct_writes) {
  const Bytes records =
      make_records({Distribution::kUniform, kVolumesLayout, kSanitized ? 150'000 : 400'000, test_seed()});
  for (const std::size_t volumes : {2, 3, 5})
    for (const bool spills : {false, true}) {
      VolumesOf sort(kVolumesLayout, records, volumes);
      sort.options.output.sync = true;
      sort.options.access = io::Access::kThreads;
      sort.options.output.verify = true;
      if (spills) sort.options.memory_bytes = floor_memory(kVolumesLayout, 2);
      const RankResult result = run_sort(sort.options);
      EXPECT_EQ(result.in_memory, !spills);
      EXPECT_EQ(result.verified_bytes, records.size());
      EXPECT_TRUE(is_sorted_form(read_volumes(sort.paths(), 0, 100), records, kVolumesLayout)) << volumes << spills;
      ASSERT_EQ(result.outputs.size(), volumes);
      std::uint64_t bytes = 0;
      for (std::size_t volume = 0; volume < volumes; ++volume) {
        EXPECT_EQ(result.outputs[volume].path, sort.paths()[volume]);
        EXPECT_EQ(result.outputs[volume].bytes, std::filesystem::file_size(sort.paths()[volume]));
        bytes += result.outputs[volume].bytes;
      }
      EXPECT_EQ(bytes, records.size());
    }
}

TEST(Volumes, of_an_input_that_is_merged_as_it_is_are_equal) {
  Bytes made = make_records({Distribution::kUniform, kVolumesLayout, kSanitized ? 60'000 : 150'000, test_seed()});
  std::copy_n(made.begin(), 500, made.begin() + 500);  // records whose bytes are equal may change places
  const Bytes records = reference_sort(made, kVolumesLayout);
  for (const bool reversed : {false, true}) {
    Bytes input = records;
    std::vector<std::size_t> order(records.size() / 100);
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    if (reversed) input = arranged(records, 100, order);
    VolumesOf sort(kVolumesLayout, input, 3);
    sort.options.hooks.uses_order_of_input = true;
    sort.options.memory_bytes = floor_memory(kVolumesLayout, 2);
    EXPECT_EQ(run_sort(sort.options).bytes_spilled, 0U);
    EXPECT_TRUE(is_sorted_form(read_volumes(sort.paths(), 0, 100), input, kVolumesLayout));
  }
}

TEST(Volumes, are_written_again_if_an_input_was_not_in_order_after_all) {
  Bytes records =
      reference_sort(make_records({Distribution::kUniform, kVolumesLayout, kSanitized ? 60'000 : 150'000, test_seed()}),
                     kVolumesLayout);
  // No sample finds that the lowest record is the last but one.
  std::rotate(records.begin(), records.begin() + 100, records.end() - 100);
  VolumesOf sort(kVolumesLayout, records, 3);
  sort.options.hooks.uses_order_of_input = true;
  sort.options.memory_bytes = floor_memory(kVolumesLayout, 2);
  EXPECT_GT(run_sort(sort.options).bytes_spilled, 0U);
  EXPECT_TRUE(is_sorted_form(read_volumes(sort.paths(), 0, 100), records, kVolumesLayout));
}

/// Lines in their order, whose length is that of one file or of many.
class VolumesOfLines : public testing::TestWithParam<bool> {
 protected:
  std::vector<std::string> sorted(const std::string& text, std::size_t volumes) const {
    VolumesOf sort(plain_lines(), bytes_of(text), volumes);
    sort.options.input.sorted = GetParam();
    run_sort(sort.options);
    return texts_of(sort.paths());
  }
};

TEST_P(VolumesOfLines, end_with_a_whole_line) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(sorted("a\nb\nc\nd\n", 2), (Texts{"a\nb\n", "c\nd\n"}));
  EXPECT_EQ(sorted("", 3), (Texts{"", "", ""}));
  EXPECT_EQ(sorted("\n", 2).front() + sorted("\n", 2).back(), "\n");
  // The cut lies in the long line: the file before it, or the one after, gets all of it.
  const std::string line(5000, 'b');
  for (const std::size_t volumes : {2, 3, 4, 7}) {
    const Texts texts = sorted("a\n" + line + "\nc\n", volumes);
    EXPECT_EQ(texts.size(), volumes);
    EXPECT_EQ(std::accumulate(texts.begin(), texts.end(), std::string()), "a\n" + line + "\nc\n");
    for (const std::string& text : texts) EXPECT_TRUE(text.empty() || text.back() == '\n');
  }
}

TEST_P(VolumesOfLines, are_equal_but_for_a_line) {
  std::string text;
  for (int number = 10'000; number < 99'999; ++number) text += std::to_string(number) + '\n';
  const std::vector<std::string> texts = sorted(text, 4);
  EXPECT_EQ(std::accumulate(texts.begin(), texts.end(), std::string()), text);
  for (const std::string& each : texts)
    EXPECT_LE(std::max(each.size(), text.size() / 4) - std::min(each.size(), text.size() / 4), 6U);
}

INSTANTIATE_TEST_SUITE_P(Sorted, VolumesOfLines, testing::Bool(),
                         [](const auto& given) { return given.param ? "merged" : "in_memory"; });

TEST(Volumes, of_fewer_records_than_files_are_empty_at_the_end) {
  const Bytes records = make_records({Distribution::kUniform, kVolumesLayout, 2, test_seed()});
  VolumesOf sort(kVolumesLayout, records, 5);
  run_sort(sort.options);
  EXPECT_TRUE(is_sorted_form(read_volumes(sort.paths(), 0, 100), records, kVolumesLayout));
}

TEST(Volumes, are_files) {
  VolumesOf sort(kVolumesLayout, Bytes(1000), 2);
  const auto message = [&] { return io::test::message_of<io::Error>([&] { run_sort(sort.options); }); };
  sort.options.output.paths[1] = "/dev/null";
  EXPECT_EQ(message(), "write /dev/null: one of several OUTPUTs must be a regular file");
  // Nothing waits for the reader of a pipe.
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  sort.options.output.paths[1] = pipe;
  EXPECT_EQ(message(), "write " + pipe + ": one of several OUTPUTs must be a regular file");
  EXPECT_FALSE(std::filesystem::exists(sort.paths().front()));
}

TEST(Volumes, of_a_merge_need_inputs_of_known_size) {
  const Bytes records(1000);
  Pipe pipe;
  VolumesOf sort(kVolumesLayout, records, 2);
  sort.options.input.paths = {pipe.read_from(records)};
  sort.options.input.sorted = true;
  EXPECT_NE(
      io::test::message_of<std::runtime_error>([&] { run_sort(sort.options); }).find("'merge' with several OUTPUTs"),
      std::string::npos);
}

TEST(Volumes, take_the_records_of_one_sink_as_they_are_cut) {
  const Scratch folder;
  comm::Communicator alone;
  const std::vector<std::string> paths = volume_names(folder / "out", 4);
  Output output({.options = {.paths = paths, .sync = false}, .record_bytes = 100}, alone);
  output.reserve(1000);
  EXPECT_EQ(std::vector(output.cuts().begin(), output.cuts().end()), (std::vector<std::uint64_t>{300, 600, 800}));
  // The second is empty now.
  output.cut_at(std::vector<std::uint64_t>{200, 200, 900});
  const Bytes records = make_records({Distribution::kUniform, kVolumesLayout, 10, test_seed()});
  io::Buffer staging(std::size_t{256} << 10);
  OutputSinks sinks(output, staging.span(), 2);
  for (const auto& [first, end] : {std::pair<std::size_t, std::size_t>{100, 1000}, {0, 100}}) {
    const auto sink = sinks.sink_at(first, 100);
    for (std::size_t at = first; at < end;) {
      const std::span<std::byte> room = sink->room();
      const std::size_t bytes = std::min(room.size(), end - at);
      ASSERT_GE(bytes, 100U);
      std::copy_n(records.begin() + static_cast<std::ptrdiff_t>(at), bytes, room.begin());
      sink->commit(bytes);
      at += bytes;
    }
    sink->finish();
  }
  output.prepare();
  EXPECT_EQ(folder.names().size(), 0U);
  output.publish();
  Bytes written;
  std::vector<std::uint64_t> sizes;
  for (const std::string& path : paths) {
    const Bytes volume = read_bytes(path);
    sizes.push_back(volume.size());
    written.insert(written.end(), volume.begin(), volume.end());
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{200, 0, 700, 100}));
  EXPECT_TRUE(written == records);
}

}  // namespace
}  // namespace hetsort::sort::test
