// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output_queues.h"

#include <fcntl.h>

#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kDepth = 4;
constexpr std::size_t kBlock = 1000;

io::Transfer write_of(const io::File& file, Bytes& block, std::uint64_t number) {
  return {.file = &file,
          .direction = io::Direction::kWrite,
          .data = block.data(),
          .bytes = block.size(),
          .offset_bytes = number * kBlock,
          .tag = number};
}

TEST(TurnsQueue, several_threads_write_one_file) {
  const Scratch folder;
  const io::File file = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
  std::mutex turn;
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kBlocks = 200;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      TurnsQueue queue(turn, kDepth);
      std::vector<Bytes> blocks;
      for (std::size_t i = 0; i < kBlocks; ++i) blocks.emplace_back(kBlock, static_cast<std::byte>(thread + i));
      std::set<std::uint64_t> tags;
      for (std::size_t i = 0; i < kBlocks; ++i) {
        if (queue.in_flight() == queue.depth()) tags.insert(queue.wait().tag);
        queue.submit(write_of(file, blocks[i], i * kThreads + thread));
      }
      while (queue.in_flight() > 0) tags.insert(queue.wait().tag);
      EXPECT_EQ(tags.size(), kBlocks);
    });
  for (std::thread& thread : threads) thread.join();
  const Bytes written = read_bytes(folder / "out");
  ASSERT_EQ(written.size(), kThreads * kBlocks * kBlock);
  for (std::size_t at = 0; at < written.size(); at += kBlock)
    ASSERT_EQ(written[at], static_cast<std::byte>(at / kBlock % kThreads + at / kBlock / kThreads));
}

TEST(TurnsQueue, keeps_its_writes_while_another_has_the_file) {
  const Scratch folder;
  const io::File file = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
  std::mutex turn;
  TurnsQueue queue(turn, kDepth);
  Bytes block(kBlock);
  {
    const std::lock_guard other(turn);
    queue.submit(write_of(file, block, 0));
    EXPECT_EQ(queue.in_flight(), 1U);
    EXPECT_EQ(file.status().size_bytes, 0U);
  }
  EXPECT_EQ(queue.wait().bytes, kBlock);
  EXPECT_EQ(file.status().size_bytes, kBlock);
}

TEST(TurnsQueue, reports_a_failed_write_and_lets_others_write) {
  const Scratch folder;
  const io::File file = io::File::open(folder / "out", O_RDWR | O_CREAT, 0600, "create");
  std::mutex turn;
  TurnsQueue queue(turn, kDepth);
  Bytes block(kBlock);
  {
    const Faults faults("write:1:ENOSPC");
    EXPECT_THROW(queue.submit(write_of(file, block, 0)), io::Error);
  }
  EXPECT_TRUE(turn.try_lock());
  turn.unlock();
}

TEST(StreamQueue, appends_in_the_order_of_submission) {
  Pipe pipe;
  io::File file = io::File::open(pipe.write_to(), O_WRONLY, 0, "write");
  std::vector<Bytes> blocks;
  Bytes expected;
  for (std::size_t i = 0; i < 300; ++i) {
    blocks.emplace_back(kBlock + i, static_cast<std::byte>(i));
    expected.insert(expected.end(), blocks.back().begin(), blocks.back().end());
  }
  {
    StreamQueue queue(kDepth);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (queue.in_flight() == queue.depth()) {
        EXPECT_EQ(queue.wait().tag, i - kDepth);
      }
      queue.submit(write_of(file, blocks[i], i));
    }
    while (queue.in_flight() > 0) queue.wait();
  }
  file.close();
  EXPECT_TRUE(pipe.finish() == expected);
}

TEST(StreamQueue, reports_a_failed_write_at_each_wait) {
  Pipe pipe;
  const io::File file = io::File::open(pipe.write_to(), O_WRONLY, 0, "write");
  Bytes block(kBlock);
  const Faults faults("write:2:EIO");
  StreamQueue queue(kDepth);
  for (std::uint64_t i = 0; i < kDepth; ++i) queue.submit(write_of(file, block, i));
  EXPECT_THROW(while (true) queue.wait(), io::Error);
  EXPECT_THROW(queue.wait(), io::Error);
}

TEST(StreamQueue, may_go_while_writes_are_under_way) {
  Pipe pipe;
  const io::File file = io::File::open(pipe.write_to(), O_WRONLY, 0, "write");
  Bytes block(kBlock);
  StreamQueue queue(kDepth);
  for (std::uint64_t i = 0; i < kDepth; ++i) queue.submit(write_of(file, block, i));
}

}  // namespace
}  // namespace hetsort::sort::test
