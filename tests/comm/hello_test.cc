// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The first messages: their form is fixed, and ranks of different programs refuse each other.
#include "comm/transport/hello.h"

#include <cstring>
#include <string_view>

#include "comm/base/identity.h"
#include "tests/comm/harness.h"

namespace hetsort::comm::test {

namespace {

const Hello kHello{{"0.1.0", "5f0c", "x86_64 little-endian"}, "nodeA"};

TEST(Hello, has_the_form_that_never_changes) {
  const HelloBytes bytes = encode(kHello);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view expected =
      "hetsort hello 1\ncrc32c 6ec07374\nversion 0.1.0\nbuild 5f0c\nmachine x86_64 little-endian\nhost nodeA\n";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_EQ(text.substr(expected.size()), std::string(kHelloBytes - expected.size(), '\0'));
  EXPECT_EQ(kHelloBytes, 1024U);
  EXPECT_EQ(kHelloTag, 4);
  EXPECT_EQ(kVerdictTag, 5);
}

TEST(Hello, is_read_back) {
  const Hello read = decode_hello(encode(kHello));
  EXPECT_EQ(read.identity.version, "0.1.0");
  EXPECT_EQ(read.identity.build, "5f0c");
  EXPECT_EQ(read.identity.machine, "x86_64 little-endian");
  EXPECT_EQ(read.host, "nodeA");
  EXPECT_EQ(read.bell.place, 0U);
  Hello with_bell = kHello;
  with_bell.bell = {0x0123456789abcdef, 0x1a};
  EXPECT_EQ(decode_hello(encode(with_bell)).bell.place, 0x0123456789abcdefU);
  EXPECT_EQ(decode_hello(encode(with_bell)).bell.number, 0x1aU);
  EXPECT_EQ(decode_verdict(encode(HelloVerdict{"nodeA", ""})).host, "nodeA");
  EXPECT_EQ(decode_verdict(encode(HelloVerdict{"nodeA", ""})).refusal, "");
  EXPECT_EQ(decode_verdict(encode(HelloVerdict{"nodeA", "because"})).refusal, "because");
  EXPECT_FALSE(decode_verdict(encode(HelloVerdict{"nodeA", std::string(5000, 'x')})).refusal.empty());
}

TEST(Hello, every_flipped_bit_is_found_and_blamed_on_the_network) {
  for (std::size_t bit = 0; bit < 8 * kHelloBytes; ++bit) {
    HelloBytes bytes = encode(kHello);
    bytes.at(bit / 8) ^= static_cast<std::byte>(1U << (bit % 8));
    try {
      decode_hello(bytes);
      ADD_FAILURE() << "bit " << bit;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("network or memory changed"), std::string::npos);
    }
  }
}

TEST(Hello, this_program_has_a_version_and_a_build) {
  const ProgramIdentity& own = own_identity();
  EXPECT_NE(own.version, "");
  EXPECT_GE(own.build.size(), 8U);
  EXPECT_NE(own.build, "unknown");
  EXPECT_NE(own.machine.find("-endian"), std::string::npos);
}

/// Starts ranks of which one runs the program `other`. Returns each rank's error.
std::vector<std::string> errors_with(int ranks, int odd_rank, const ProgramIdentity& other, ExchangeMode mode) {
  const auto job = machinery::make_in_process_job(ranks, test_seed(), {});
  std::vector<std::string> errors(job.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < job.size(); ++rank)
    threads.emplace_back([&, rank] {
      CommunicatorOptions options;
      options.mode = mode;
      options.identity = static_cast<int>(rank) == odd_rank ? other : kHello.identity;
      try {
        Communicator joined(job[rank], options);
        joined.conclude();
      } catch (const JobMismatch& error) {
        errors[rank] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

TEST(CommPrograms, of_another_version_or_build_are_refused_by_all_ranks) {
  for (const ExchangeMode mode : {ExchangeMode::kInline, ExchangeMode::kThread, ExchangeMode::kThreads})
    for (const ProgramIdentity& other : {ProgramIdentity{"0.2.0", "5f0c", kHello.identity.machine},
                                         ProgramIdentity{"0.1.0", "77aa", kHello.identity.machine},
                                         ProgramIdentity{"0.1.0", "5f0c", "s390x big-endian"}})
      for (const int odd_rank : {1, 2}) {
        const std::string name = "rank " + std::to_string(odd_rank) + " (node" + std::to_string(odd_rank) + ")";
        for (const std::string& error : errors_with(3, odd_rank, other, mode))
          EXPECT_EQ(error,
                    "the ranks run different programs: rank 0 (node0) is hetsort 0.1.0, build 5f0c, x86_64 "
                    "little-endian; " +
                        name + " is hetsort " + other.version + ", build " + other.build + ", " + other.machine +
                        "; install the same build on all hosts");
      }
}

TEST(CommPrograms, that_are_the_same_work_together) {
  for (const std::string& error : errors_with(3, 1, kHello.identity, ExchangeMode::kThread)) EXPECT_EQ(error, "");
}

}  // namespace

}  // namespace hetsort::comm::test
