// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/validate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <thread>
#include <vector>

#include "io/error.h"
#include "tests/gen/support.h"
#include "tests/io/scratch.h"
#include "tests/sort/inputs.h"

namespace hetsort::gen::test {
namespace {

using io::test::Faults;
using io::test::message_of;
using io::test::Scratch;
using io::test::write_all;
using test::reference_judgement;
using test::ReferenceJudgement;

ReferenceJudgement judged(const Summary& summary) {
  return {low_half(summary.records), low_half(summary.unordered), low_half(summary.duplicates),
          low_half(summary.first_unordered), low_half(summary.checksum)};
}

ReferenceJudgement validated(const std::vector<std::string>& paths, order::RecordLayout layout = {},
                             unsigned threads = 3) {
  return judged(validate_files(paths, {.layout = layout, .threads = threads}));
}

/// Records of rising keys, each key several times, with random bytes around it.
std::string rising_records(std::size_t count, order::RecordLayout layout, std::mt19937_64& random) {
  std::string records(count * layout.record_bytes, '\0');
  for (char& letter : records) letter = static_cast<char>(random());
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < count; ++i) {
    key += random() % 3;
    for (std::size_t byte = 0; byte < layout.key_bytes; ++byte) {
      const std::size_t shift = 8 * (layout.key_bytes - 1 - byte);
      records[i * layout.record_bytes + layout.key_offset + byte] = static_cast<char>(shift < 64 ? key >> shift : 0);
    }
  }
  return records;
}

std::string error_of(const std::vector<std::string>& paths, order::RecordLayout layout = {}) {
  return message_of<io::Error>([&] { validate_files(paths, {.layout = layout, .threads = 2}); });
}

// Records at which the work is cut: the ends of reads of 256 KiB and of pieces of 4 MiB.
constexpr std::size_t kReadRecords = (std::size_t{256} << 10) / kRecordBytes;
constexpr std::size_t kPieceRecords = (std::size_t{4} << 20) / kRecordBytes;

TEST(ValidateFiles, disorder_and_duplicates_at_every_cut_are_found) {
  const Scratch scratch;
  std::mt19937_64 random(1);
  const std::size_t count = 2 * kPieceRecords + 17;
  const std::string records = rising_records(count, {}, random);
  ASSERT_EQ(reference_judgement(records, 100, 0, 10).unordered, 0U);
  std::vector<std::size_t> places{kPieceRecords, count - 1};
  if (!sort::test::kSeeksRaces) {
    for (const std::size_t cut : {kReadRecords, kPieceRecords}) places.insert(places.end(), {cut - 1, cut + 1});
    places.insert(places.end(), {1, kReadRecords, 2 * kPieceRecords});
  }
  for (const std::size_t place : places) {
    std::string disordered = records;
    for (std::size_t byte = 0; byte < 10; ++byte) disordered[place * 100 + byte] = '\0';
    write_all(scratch / "disordered", disordered);
    EXPECT_EQ(validated({scratch / "disordered"}), reference_judgement(disordered, 100, 0, 10)) << place;
    std::string doubled = records;
    doubled.replace(place * 100, 100, records.substr((place - 1) * 100, 100));
    write_all(scratch / "doubled", doubled);
    EXPECT_EQ(validated({scratch / "doubled"}), reference_judgement(doubled, 100, 0, 10)) << place;
  }
}

TEST(ValidateFiles, any_number_of_threads_and_a_stream_give_the_same_summary) {
  const Scratch scratch;
  std::mt19937_64 random(2);
  std::string records = rising_records(3 * kPieceRecords / 2, {}, random);
  for (int i = 0; i < 20; ++i) records[random() % records.size()] ^= 0x40;
  write_all(scratch / "in", records);
  const ReferenceJudgement expected = reference_judgement(records, 100, 0, 10);
  for (const unsigned threads : {0U, 1U, 2U, 5U}) EXPECT_EQ(validated({scratch / "in"}, {}, threads), expected);
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_all(scratch / "pipe", records); });
  EXPECT_EQ(validated({scratch / "pipe"}), expected);
  writer.join();
}

RC_GTEST_PROP(ValidateFiles, random_records_of_any_shape_equal_the_reference, ()) {
  order::RecordLayout layout;
  layout.record_bytes = *rc::gen::element<std::size_t>(1, 2, 4, 10, 16, 99, 100, 101, 300, 5000);
  layout.key_bytes =
      *rc::gen::inRange<std::size_t>(1, std::min<std::size_t>(layout.record_bytes, order::kMaxKeyBytes) + 1);
  layout.key_offset = *rc::gen::inRange<std::size_t>(0, layout.record_bytes - layout.key_bytes + 1);
  const auto count = *rc::gen::inRange<std::size_t>(0, 200);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 random(seed);
  std::string records = rising_records(count, layout, random);
  const auto flips = *rc::gen::inRange<std::size_t>(0, 4);
  for (std::size_t i = 0; i < flips && !records.empty(); ++i) records[random() % records.size()] ^= 1;
  const Scratch scratch;
  write_all(scratch / "in", records);
  RC_ASSERT(validated({scratch / "in"}, layout) ==
            reference_judgement(records, layout.record_bytes, layout.key_offset, layout.key_bytes));
}

TEST(ValidateFiles, largest_records_and_keys_are_judged) {
  const Scratch scratch;
  std::mt19937_64 random(3);
  const order::RecordLayout layout{order::kMaxRecordBytes, order::kMaxRecordBytes - order::kMaxKeyBytes,
                                   order::kMaxKeyBytes};
  const std::string records = rising_records(6, layout, random);
  write_all(scratch / "in", records);
  EXPECT_EQ(validated({scratch / "in"}, layout),
            reference_judgement(records, layout.record_bytes, layout.key_offset, layout.key_bytes));
}

TEST(ValidateFiles, several_files_are_partitions_of_one_output) {
  const Scratch scratch;
  std::mt19937_64 random(4);
  const std::string records = rising_records(1000, {}, random);
  write_all(scratch / "a", records.substr(0, 30'000));
  write_all(scratch / "b", "");
  write_all(scratch / "c", records.substr(30'000));
  EXPECT_EQ(validated({scratch / "a", scratch / "b", scratch / "c"}), reference_judgement(records, 100, 0, 10));
  EXPECT_EQ(validated({scratch / "c", scratch / "a"}),
            reference_judgement(records.substr(30'000) + records.substr(0, 30'000), 100, 0, 10));
}

TEST(ValidateFiles, part_of_a_record_at_the_end_is_an_error_with_its_place) {
  const Scratch scratch;
  for (std::size_t bytes = 1; bytes < 300; ++bytes) {
    write_all(scratch / "in", std::string(bytes, 'x'));
    const std::string message = error_of({scratch / "in"});
    if (bytes % 100 == 0) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_EQ(message, "validate " + scratch / "in" + ": partial record found at end (" +
                             std::to_string(bytes % 100) + " bytes at offset " + std::to_string(bytes / 100 * 100) +
                             "); give the size of a record with 'record_size', and the bytes before the first record "
                             "with 'header'");
    }
  }
}

TEST(ValidateFiles, files_that_have_less_than_their_size_are_read_to_their_end) {
  const std::string path = "/sys/devices/system/cpu/online";
  const Summary summary = validate_files({path}, {.layout = {1, 0, 1}});
  EXPECT_EQ(low_half(summary.records), io::test::read_all(path).size());
}

TEST(ValidateFiles, text_is_refused_where_the_size_of_a_record_is_assumed) {
  const Scratch scratch;
  write_all(scratch / "in", std::string(300, 'x'));
  const ValidateOptions options{.layout = {},
                                .content = {.refused = io::Refused::kFormatsAndText, .use = io::ContentUse::kValidate}};
  EXPECT_NE(message_of<io::ContentError>([&] { validate_files({scratch / "in"}, options); }).find("this is text"),
            std::string::npos);
}

TEST(ValidateFiles, part_of_a_record_at_the_end_of_a_pipe_is_an_error) {
  const Scratch scratch;
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { write_all(scratch / "pipe", std::string(600'123, 'x')); });
  EXPECT_NE(error_of({scratch / "pipe"}).find("partial record found at end (23 bytes at offset 600100)"),
            std::string::npos);
  writer.join();
}

TEST(ValidateFiles, unreadable_files_are_errors_with_their_path) {
  const Scratch scratch;
  EXPECT_NE(error_of({scratch / "missing"}).find(scratch / "missing"), std::string::npos);
  EXPECT_NE(error_of({scratch.path()}).find("Is a directory"), std::string::npos);
}

TEST(ValidateFiles, failing_reads_come_out_and_short_ones_do_not_matter) {
  const Scratch scratch;
  std::mt19937_64 random(5);
  const std::string records = rising_records(2 * kPieceRecords, {}, random);
  write_all(scratch / "in", records);
  for (const char* plan : {"read:1:EIO", "read:7:EIO", "read:20+:EIO"}) {
    const Faults faults(plan);
    EXPECT_NE(error_of({scratch / "in"}).find("Input/output error"), std::string::npos) << plan;
  }
  const Faults faults("read:~2:short");
  EXPECT_EQ(validated({scratch / "in"}), reference_judgement(records, 100, 0, 10));
}

TEST(JoinSummaryFiles, concatenated_summaries_are_judged_with_their_borders) {
  const Scratch scratch;
  std::mt19937_64 random(6);
  const std::string records = rising_records(900, {}, random);
  std::string summaries;
  std::string reversed;
  for (std::size_t at = 0; at < records.size(); at += 30'000) {
    write_all(scratch / "part", records.substr(at, 30'000));
    const std::string summary = test::text_of(encode_summary(validate_files({scratch / "part"}, {})));
    summaries += summary;
    reversed = summary + reversed;
  }
  write_all(scratch / "sums", summaries);
  EXPECT_EQ(judged(join_summary_files({scratch / "sums"})), reference_judgement(records, 100, 0, 10));
  write_all(scratch / "reversed", reversed);
  const Summary disorder = join_summary_files({scratch / "reversed"});
  EXPECT_TRUE(disorder.unordered == 2);
  EXPECT_TRUE(disorder.first_unordered == 300);
}

TEST(JoinSummaryFiles, what_is_no_summary_is_an_error) {
  const Scratch scratch;
  const auto error = [&](const std::string& bytes) {
    write_all(scratch / "sums", bytes);
    return message_of<io::Error>([&] { join_summary_files({scratch / "sums"}); });
  };
  EXPECT_NE(error(std::string(299, '\0')).find("partial partition summary found at end (19 bytes at offset 280)"),
            std::string::npos);
  EXPECT_NE(error(std::string(280, 'x')).find("no partition summary at offset 0"), std::string::npos);
  EXPECT_EQ(error(""), "");
}

}  // namespace
}  // namespace hetsort::gen::test
