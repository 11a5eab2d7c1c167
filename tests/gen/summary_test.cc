// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/summary.h"

#include <gtest/gtest.h>

#include "gen/scanner.h"
#include "tests/gen/support.h"

namespace hetsort::gen::test {
namespace {

using test::bytes_of;
using test::filled;
using test::text_of;

Summary summary_of(const std::string& records) {
  Scanner scanner({});
  scanner.add(bytes_of(records));
  return scanner.summary();
}

std::string sorted_records(const std::string& records) {
  std::vector<std::string> each;
  for (std::size_t at = 0; at < records.size(); at += kRecordBytes) each.push_back(records.substr(at, kRecordBytes));
  std::sort(each.begin(), each.end());
  std::string sorted;
  for (const std::string& record : each) sorted += record;
  return sorted;
}

/// A record whose key is one letter ten times.
std::string record(char key, char rest = '.') { return std::string(kKeyBytes, key) + std::string(90, rest); }

TEST(EncodeSummary, sample_of_1000_sorted_ascii_records) {
  const std::string sorted = sorted_records(filled(Form::kAscii, {}, {0, 1000}));
  const std::string bytes = text_of(encode_summary(summary_of(sorted)));
  ASSERT_EQ(bytes.size(), 280U);
  using namespace std::string_literals;
  std::string expected(0x50, '\0');
  expected.replace(0x28, 2, "\xe8\x03"s);
  expected.replace(0x48, 8, "\x1a\x63\xb3\xdf\xf5\x01\0\0"s);
  EXPECT_EQ(bytes.substr(0, 0x50), expected);
  EXPECT_EQ(bytes.substr(0x50, 100), sorted.substr(0, 100));
  EXPECT_EQ(bytes.substr(0xb4), sorted.substr(sorted.size() - 100));
}

TEST(EncodeSummary, numbers_beyond_64_bits_put_the_high_word_first) {
  Summary summary;
  summary.records = make_uint128(0x0102, 0x0304);
  const auto bytes = encode_summary(summary);
  EXPECT_EQ(bytes[0x20], std::byte{2});
  EXPECT_EQ(bytes[0x21], std::byte{1});
  EXPECT_EQ(bytes[0x28], std::byte{4});
  EXPECT_TRUE(decode_summary(bytes)->records == summary.records);
}

TEST(DecodeSummary, contradicting_numbers_are_no_summary) {
  const Summary good = summary_of(record('b') + record('a') + record('a'));
  ASSERT_TRUE(decode_summary(encode_summary(good)).has_value());
  const auto with = [&](auto change) {
    Summary summary = good;
    change(summary);
    return decode_summary(encode_summary(summary)).has_value();
  };
  EXPECT_FALSE(with([](Summary& s) { s.unordered = 3; }));
  EXPECT_FALSE(with([](Summary& s) { s.duplicates = 2; }));
  EXPECT_FALSE(with([](Summary& s) { s.duplicates = ~Uint128{0}; }));
  EXPECT_FALSE(with([](Summary& s) { s.first_unordered = 3; }));
  EXPECT_FALSE(with([](Summary& s) { s.first_unordered = 0; }));
  EXPECT_FALSE(with([](Summary& s) { s.unordered = 0; }));
  EXPECT_FALSE(with([](Summary& s) { s.records = 0; }));
}

RC_GTEST_PROP(DecodeSummary, random_bytes_never_harm, ()) {
  const auto bytes = *rc::gen::container<std::string>(kSummaryBytes, rc::gen::arbitrary<char>());
  const auto summary = decode_summary(std::span<const std::byte, kSummaryBytes>(bytes_of(bytes)));
  RC_ASSERT(!summary || !summary->report().empty());
}

RC_GTEST_PROP(SummaryAppend, cut_anywhere_the_whole_is_the_same, ()) {
  const auto keys = *rc::gen::container<std::string>(rc::gen::inRange('a', 'e'));
  std::string records;
  for (const char key : keys) records += record(key);
  const auto cut = *rc::gen::inRange<std::size_t>(0, keys.size() + 1) * kRecordBytes;
  Summary joined = summary_of(records.substr(0, cut));
  joined.append(*decode_summary(encode_summary(summary_of(records.substr(cut)))));
  RC_ASSERT(encode_summary(joined) == encode_summary(summary_of(records)));
}

TEST(SummaryAppend, border_counts_as_one_disorder_or_one_duplicate) {
  Summary disorder = summary_of(record('b'));
  disorder.append(summary_of(record('a')));
  EXPECT_EQ(disorder.report(), "First unordered record is record 1\nRecords: 2\nChecksum: " +
                                   to_hex(disorder.checksum) + "\nERROR - there are 1 unordered records\n");
  Summary duplicate = summary_of(record('b'));
  duplicate.append(summary_of(record('b')));
  EXPECT_TRUE(duplicate.in_order());
  EXPECT_TRUE(duplicate.duplicates == 1);
}

TEST(SummaryReport, no_records_say_so_and_are_in_order) {
  EXPECT_EQ(Summary{}.report(),
            "0 records\nRecords: 0\nChecksum: 0\nDuplicate keys: 0\nSUCCESS - all records are in order\n");
}

TEST(SummaryChecksum, one_record_dropped_and_another_doubled_is_noticed) {
  const std::string records = sorted_records(filled(Form::kBinary, {}, {0, 500}));
  std::string changed = records;
  changed.replace(200 * kRecordBytes, kRecordBytes, records.substr(201 * kRecordBytes, kRecordBytes));
  const Summary before = summary_of(records);
  const Summary after = summary_of(changed);
  EXPECT_TRUE(after.in_order());
  EXPECT_TRUE(after.records == before.records);
  EXPECT_FALSE(after.checksum == before.checksum);
}

}  // namespace
}  // namespace hetsort::gen::test
