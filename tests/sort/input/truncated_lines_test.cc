// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of lines that become shorter while they are sorted.
#include <filesystem>
#include <string>

#include "sort/input/input.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

/// Lines of different lengths in no order.
void write_lines(const std::string& path, std::size_t bytes) {
  std::mt19937_64 random(test_seed());
  std::string text;
  while (text.size() < bytes) text += std::to_string(random()) + std::string(random() % 40, 'x') + '\n';
  io::test::write_all(path, text);
}

/// The message of a sort whose input is cut to `bytes` when it begins to form runs.
std::string message_of_cut_sort(SortOptions options, std::uint64_t bytes) {
  comm::Communicator alone;
  Monitor monitor;
  RankResult result;
  options.hooks.on_phase = [&](const std::string& phase) {
    if (phase == "form_runs") std::filesystem::resize_file(options.input.paths.front(), bytes);
  };
  return io::test::message_of<io::Error>([&] { sort_records(options, alone, monitor, result); });
}

TEST(TruncatedLines, are_reported_as_truncated_with_their_offset_in_memory_and_spilled) {
  SCOPED_TRACE(seed_note());
  constexpr std::uint64_t kSize = std::uint64_t{6} << 20;
  std::uint64_t number = 0;
  for (const std::uint64_t memory : {std::uint64_t{3} << 20, std::uint64_t{64} << 20})
    for (const std::size_t threads : {1U, 3U})
      for (const std::uint64_t left : {std::uint64_t{0}, std::uint64_t{5000}, kSize / 2, kSize - 3})
        for (const io::Access access : {io::Access::kAuto, io::Access::kBuffered}) {
          if (kSanitized && number++ % 3 != 0) continue;
          const Scratch folder;
          write_lines(folder / "in", kSize);
          SortOptions options = sort_of_files({folder / "in"}, folder / "out", plain_lines());
          options.spill.directories = {folder.path()};
          options.memory_bytes = memory;
          options.threads = threads;
          options.access = access;
          options.output.sync = false;
          const std::string message = message_of_cut_sort(options, left);
          EXPECT_NE(message.find("/in: ends at offset " + std::to_string(left) + ", "), std::string::npos)
              << memory << " bytes, " << threads << " threads: " << message;
          EXPECT_NE(message.find("truncated while it was read"), std::string::npos) << message;
        }
}

TEST(TruncatedLines, are_no_long_lines) {
  const Scratch folder;
  write_lines(folder / "in", 100'000);
  const Input input({folder / "in"}, input_format(plain_lines(), {}), io::Access::kBuffered);
  const std::uint64_t size = input.total_bytes();
  std::filesystem::resize_file(folder / "in", 50'000);
  const auto refused = [&](const auto& call) {
    const std::string message = io::test::message_of<io::Error>(call);
    EXPECT_NE(message.find("ends at offset 50000, " + std::to_string(size - 50'000) + " bytes short: truncated"),
              std::string::npos)
        << message;
  };
  refused([&] { input.refuse_long_line(10, 5); });
  refused([&] { static_cast<void>(input.record_start(70'000)); });
  refused([&] { static_cast<void>(input.last_line_start(20'000, 80'000)); });
}

}  // namespace
}  // namespace hetsort::sort::test
