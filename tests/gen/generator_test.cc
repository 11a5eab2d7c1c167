// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/generator.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "gen/ascii_records.h"
#include "gen/binary_records.h"
#include "gen/random_sequence.h"
#include "tests/gen/support.h"

namespace hetsort::gen::test {
namespace {

using test::any_number;
using test::filled;
using test::limbs_of;
using test::reference_records;
using test::text_of;

constexpr KeyDistribution kSkewed{.kind = KeyKind::kSkewed};

std::string checksum_of(Form form, KeyDistribution keys, RecordRange range) {
  return to_hex(generate(Generator(form, keys, range), range, [](auto) {}, {.checksum = true}));
}

TEST(Generator, checksums_are_those_of_the_public_generator) {
  EXPECT_EQ(checksum_of(Form::kBinary, {}, {0, 1'000'000}), "7a0e0d4868cd4");
  EXPECT_EQ(checksum_of(Form::kAscii, {}, {0, 1000}), "1f5dfb3631a");
  EXPECT_EQ(checksum_of(Form::kBinary, kSkewed, {0, 1000}), "1e96301166b");
}

TEST(Generator, first_records_are_those_of_the_public_generator) {
  EXPECT_EQ(filled(Form::kBinary, {}, {0, 1}).substr(0, 20),
            "\x4a\x69\x6d\x47\x72\x61\x79\x52\x49\x50\x65\x08" + std::string(1, '\0') + "\x60\x83\x6b\x39\x2c\xd5\x8b");
  EXPECT_EQ(filled(Form::kAscii, {}, {0, 1}).substr(0, 58),
            "AsfAGHM5om  00000000000000000000000000000000  000022220000");
  EXPECT_EQ(filled(Form::kAscii, {}, {1, 1}).substr(0, 66),
            "~sHd0jDv6X  00000000000000000000000000000001  77779999444488885555");
}

TEST(Generator, skip_ahead_equals_stepping) {
  Uint128 x = 0;
  for (unsigned n = 0; n < 1000; ++n, x = next_random(x)) ASSERT_TRUE(random_at(n) == x) << n;
}

RC_GTEST_PROP(Generator, records_equal_the_reference_for_any_start, ()) {
  const Uint128 first = *any_number();
  const auto count = *rc::gen::inRange<std::size_t>(1, 40);
  const bool ascii = *rc::gen::arbitrary<bool>();
  const bool skewed = *rc::gen::arbitrary<bool>();
  const RecordRange range{first, count};
  RC_ASSERT(filled(ascii ? Form::kAscii : Form::kBinary, skewed ? kSkewed : KeyDistribution{}, range) ==
            reference_records(limbs_of(first), count, {.ascii = ascii, .skewed = skewed}));
}

TEST(Generator, skewed_keys_keep_the_public_generators_count_of_bits) {
  // Numbers with one of the top four bits of a half set, which counts as the highest, and numbers right below.
  for (const int bit : {0, 1, 30, 58, 59, 60, 61, 62, 63, 64, 65, 122, 123, 124, 125, 126, 127}) {
    const Uint128 power = Uint128{1} << bit;
    const Uint128 first = power > 20 ? power - 20 : 0;
    for (const Form form : {Form::kBinary, Form::kAscii})
      ASSERT_EQ(filled(form, kSkewed, {first, 60}),
                reference_records(limbs_of(first), 60, {.ascii = form == Form::kAscii, .skewed = true}))
          << "around 2^" << bit;
  }
}

TEST(Generator, record_numbers_wrap_around) {
  const Uint128 last = ~Uint128{0};
  const std::string records = filled(Form::kAscii, {}, {last, 2});
  EXPECT_EQ(records.substr(12, 32), std::string(32, 'F'));
  EXPECT_EQ(records.substr(100), filled(Form::kAscii, {}, {0, 1}));
}

TEST(FillBinary, kernels_agree_at_all_block_borders_and_write_nothing_behind) {
  for (const std::size_t count : {0, 1, 2, 255, 256, 257, 511, 512, 513, 1000}) {
    const std::string expected = reference_records(test::limbs(0, 77), count, {});
    for (const detail::WindowKernel kernel : detail::window_kernels()) {
      std::vector<std::byte> records(count * kRecordBytes + 64, std::byte{0x5a});
      detail::fill_binary_with(kernel, 77, std::span(records).first(count * kRecordBytes));
      ASSERT_EQ(text_of(records), expected + std::string(64, '\x5a')) << count;
    }
  }
}

RC_GTEST_PROP(Generate, ranges_concatenate_to_the_whole, ()) {
  const Uint128 first = *any_number();
  const auto count = *rc::gen::inRange<std::uint64_t>(0, 300);
  const auto cut = *rc::gen::inRange<std::uint64_t>(0, count + 1);
  const Form form = *rc::gen::element(Form::kBinary, Form::kAscii);
  const auto keys = *rc::gen::element<std::string>("uniform", "sorted", "reverse", "equal", "few:7", "zipf:1.1");
  const RecordRange whole{first, count};
  const Generator generator(form, parse_key_distribution(keys), whole);
  std::string parts;
  const Sink sink = [&](std::span<const std::byte> records) { parts += text_of(records); };
  generate(generator, {first, cut}, sink, {});
  generate(generator, {first + cut, count - cut}, sink, {});
  RC_ASSERT(parts == filled(form, parse_key_distribution(keys), whole));
}

TEST(Generate, any_number_of_threads_gives_the_same_records_in_order) {
  const RecordRange range{123, 30'001};
  const std::string expected = filled(Form::kBinary, {}, range);
  const Generator generator(Form::kBinary, {}, range);
  for (const unsigned threads : {0U, 1U, 2U, 3U, 8U}) {
    std::string records;
    generate(generator, range, [&](auto part) { records += text_of(part); }, {.threads = threads});
    ASSERT_TRUE(records == expected) << threads;
  }
}

TEST(Generate, no_records_never_call_the_sink) {
  const RecordRange none{5, 0};
  bool called = false;
  EXPECT_TRUE(generate(Generator(Form::kBinary, {}, none), none, [&](auto) { called = true; }, {.checksum = true}) ==
              0);
  EXPECT_FALSE(called);
}

TEST(Generate, failure_of_the_sink_ends_the_work_and_comes_out) {
  const RecordRange range{0, 100'000};
  const Generator generator(Form::kBinary, {}, range);
  for (const unsigned threads : {1U, 2U, 5U}) {
    int calls = 0;
    const Sink sink = [&](auto) {
      if (++calls == 3) throw std::runtime_error("full");
    };
    EXPECT_THROW(generate(generator, range, sink, {.threads = threads}), std::runtime_error);
    EXPECT_EQ(calls, 3);
  }
}

}  // namespace
}  // namespace hetsort::gen::test
