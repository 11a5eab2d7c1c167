// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// One suite over all queues, with and without direct I/O. Where the kernel refuses io_uring the other two remain.
#include "io/transfer/queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "io/transfer/access.h"
#include "tests/io/scratch.h"
#include "tests/io/seccomp.h"

namespace hetsort::io::test {
namespace {

using test::Faults;
using test::message_of;
using test::random_bytes;
using test::Scratch;

constexpr std::size_t kBlock = 4096;

struct Way {
  Backend backend = Backend::kBuffered;
  bool direct = false;
};

void PrintTo(const Way& way, std::ostream* stream) {
  *stream << (way.backend == Backend::kUring     ? "uring"
              : way.backend == Backend::kThreads ? "threads"
                                                 : "buffered")
          << (way.direct ? "_direct" : "");
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const Backend backend : {Backend::kUring, Backend::kThreads, Backend::kBuffered})
    for (const bool direct : {false, true})
      if (backend != Backend::kUring || uring_available()) ways.push_back({backend, direct});
  return ways;
}

/// Aligned memory, as direct I/O wants it.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kBlock, (bytes / kBlock + 1) * kBlock)), std::free),
        bytes_(bytes) {}
  std::byte* data() const { return data_.get(); }
  std::span<std::byte> span() const { return {data_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> data_;
  std::size_t bytes_;
};

class QueueTest : public testing::TestWithParam<Way> {
 protected:
  std::unique_ptr<Queue> queue(std::size_t depth) const { return make_queue(GetParam().backend, depth); }

  /// A nameless file, direct where asked for and possible.
  File file() const {
    File made = File::create_nameless(scratch_.path());
    if (GetParam().direct) made.set_direct(true);
    return made;
  }

  Scratch scratch_;
};

Transfer transfer(const File& file, Direction direction, std::span<std::byte> memory, std::uint64_t offset,
                  std::uint64_t tag = 0) {
  return {&file, direction, memory.data(), memory.size(), offset, tag};
}

/// Moves all of `memory` to or from `start` in pieces, as many in flight as the queue takes.
// NOLINTNEXTLINE(readability-function-size): six parameters, all of one transfer
void move_all(Queue& queue, const File& file, Direction direction, std::span<std::byte> memory, std::uint64_t start,
              std::size_t piece) {
  for (std::size_t at = 0; at < memory.size(); at += piece) {
    if (queue.in_flight() == queue.depth()) queue.wait();
    queue.submit(transfer(file, direction, memory.subspan(at, std::min(piece, memory.size() - at)), start + at, at));
  }
  while (queue.in_flight() > 0) queue.wait();
}

/// Writes and reads back; sizes in blocks, so that direct I/O can do it too.
void round_trip(Queue& queue, const File& file, std::size_t blocks, std::size_t piece_blocks, std::uint64_t seed) {
  const std::vector<std::byte> random = random_bytes(blocks * kBlock, seed);
  const Memory written(random.size());
  const Memory read(random.size());
  std::copy(random.begin(), random.end(), written.data());
  const std::uint64_t start = seed % 5 * kBlock;
  move_all(queue, file, Direction::kWrite, written.span(), start, piece_blocks * kBlock);
  move_all(queue, file, Direction::kRead, read.span(), start, piece_blocks * kBlock);
  RC_ASSERT(std::equal(random.begin(), random.end(), read.data()));
}

RC_GTEST_PROP(QueueProperty, round_trips_at_any_size_and_depth, ()) {
  const Scratch scratch;
  const Way way = *rc::gen::elementOf(all_ways());
  const File file = File::create_nameless(scratch.path());
  if (way.direct) file.set_direct(true);
  const auto queue = make_queue(way.backend, *rc::gen::inRange<std::size_t>(1, 20));
  round_trip(*queue, file, *rc::gen::inRange<std::size_t>(1, 60), *rc::gen::inRange<std::size_t>(1, 9),
             *rc::gen::arbitrary<std::uint32_t>());
}

RC_GTEST_PROP(QueueProperty, short_and_interrupted_transfers_are_continued, ()) {
  const Scratch scratch;
  const Way way = *rc::gen::elementOf(all_ways());
  const File file = File::create_nameless(scratch.path());
  if (way.direct) file.set_direct(true);
  const auto queue = make_queue(way.backend, *rc::gen::inRange<std::size_t>(1, 20));
  const Faults faults("read:~3:short,write:~3:short,read:~4:EINTR,write:~4:EINTR");
  round_trip(*queue, file, *rc::gen::inRange<std::size_t>(1, 40), *rc::gen::inRange<std::size_t>(1, 9),
             *rc::gen::arbitrary<std::uint32_t>());
}

TEST_P(QueueTest, bytes_at_odd_places_are_moved_exactly) {
  File made = File::create_nameless(scratch_.path());  // odd places are nothing for direct I/O
  const auto queue = this->queue(4);
  std::vector<std::byte> written = random_bytes(10'007, 1);
  move_all(*queue, made, Direction::kWrite, written, 13, 999);
  std::vector<std::byte> read(written.size());
  move_all(*queue, made, Direction::kRead, read, 13, 1001);
  EXPECT_EQ(written, read);
}

TEST_P(QueueTest, a_read_beyond_the_end_reports_the_bytes_read) {
  const File made = file();
  made.set_direct(false);
  std::vector<std::byte> content = random_bytes(3 * kBlock + 700, 2);
  made.write_at(content, 0);
  if (GetParam().direct) made.set_direct(true);
  const Memory memory(8 * kBlock);
  const auto queue = this->queue(2);
  for (const std::size_t asked : {4 * kBlock, 8 * kBlock}) {
    queue->submit(transfer(made, Direction::kRead, memory.span().first(asked), 0, 77));
    const Completion completion = queue->wait();
    EXPECT_EQ(completion.bytes, content.size());
    EXPECT_EQ(completion.tag, 77U);
    EXPECT_TRUE(std::equal(content.begin(), content.end(), memory.data()));
  }
  queue->submit(transfer(made, Direction::kRead, memory.span(), 100 * kBlock));
  EXPECT_EQ(queue->wait().bytes, 0U);
}

TEST_P(QueueTest, the_end_is_not_taken_for_a_short_read_and_the_other_way_round) {
  const File made = file();
  made.set_direct(false);
  const std::vector<std::byte> content = random_bytes(16 * kBlock + 100, 3);
  made.write_at(content, 0);
  if (GetParam().direct) made.set_direct(true);
  const Memory memory(20 * kBlock);
  for (int seed = 0; seed < 50; ++seed) {
    ::setenv("HETSORT_FAULT_SEED", std::to_string(seed).c_str(), 1);
    const Faults faults("read:~2:short");
    const auto queue = this->queue(1);
    queue->submit(transfer(made, Direction::kRead, memory.span(), 0));
    EXPECT_EQ(queue->wait().bytes, content.size()) << "seed " << seed;
    EXPECT_TRUE(std::equal(content.begin(), content.end(), memory.data())) << "seed " << seed;
  }
  ::unsetenv("HETSORT_FAULT_SEED");
}

TEST_P(QueueTest, no_bytes_is_a_transfer_too) {
  const File made = file();
  const auto queue = this->queue(1);
  queue->submit(transfer(made, Direction::kRead, {}, 0, 5));
  EXPECT_EQ(queue->wait().bytes, 0U);
}

TEST_P(QueueTest, what_takes_long_is_waited_for) {
  const std::string path = scratch_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const File pipe = File::open(path, O_RDWR, 0, "open");
  const Memory memory(kBlock);
  const auto queue = this->queue(1);
  queue->submit(transfer(pipe, Direction::kRead, memory.span(), 0, 9));
  if (GetParam().backend != Backend::kUring) {  // others read at places, which a pipe has not
    EXPECT_NE(message_of<Error>([&] { queue->wait(); }).find("Illegal seek"), std::string::npos);
    return;
  }
  const std::vector<std::byte> content = random_bytes(kBlock, 5);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    EXPECT_EQ(::write(pipe.descriptor(), content.data(), kBlock), static_cast<ssize_t>(kBlock));
  });
  const Completion completion = queue->wait();
  writer.join();
  EXPECT_EQ(completion.bytes, kBlock);
  EXPECT_EQ(completion.tag, 9U);
  EXPECT_TRUE(std::equal(content.begin(), content.end(), memory.data()));
  EXPECT_EQ(queue->in_flight(), 0U);
  // And the ring is as good as before.
  const File made = file();
  move_all(*queue, made, Direction::kWrite, memory.span(), 0, kBlock);
  EXPECT_EQ(made.status().size_bytes, kBlock);
}

TEST_P(QueueTest, every_transfer_comes_back_once_by_its_tag) {
  constexpr std::size_t kDepth = 64;
  const File made = file();
  made.allocate(kDepth * kBlock);
  const Memory memory(kDepth * kBlock);
  const auto queue = this->queue(kDepth);
  EXPECT_EQ(queue->depth(), kDepth);
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < kDepth; ++i)
      queue->submit(transfer(made, Direction::kRead, memory.span().subspan(i * kBlock, kBlock), i * kBlock, i));
    EXPECT_EQ(queue->in_flight(), kDepth);
    std::set<std::uint64_t> tags;
    while (queue->in_flight() > 0) tags.insert(queue->wait().tag);
    EXPECT_EQ(tags.size(), kDepth);
    EXPECT_EQ(*tags.rbegin(), kDepth - 1);
  }
}

TEST_P(QueueTest, several_files_and_both_directions_share_a_queue) {
  const File one = file();
  const File two = file();
  const Memory memory(4 * kBlock);
  std::memset(memory.data(), 'a', kBlock);
  std::memset(memory.data() + kBlock, 'b', kBlock);
  const auto queue = this->queue(2);
  queue->submit(transfer(one, Direction::kWrite, memory.span().first(kBlock), 0));
  queue->submit(transfer(two, Direction::kWrite, memory.span().subspan(kBlock, kBlock), 0));
  queue->wait();
  queue->wait();
  queue->submit(transfer(one, Direction::kRead, memory.span().subspan(2 * kBlock, kBlock), 0));
  queue->submit(transfer(two, Direction::kRead, memory.span().subspan(3 * kBlock, kBlock), 0));
  queue->wait();
  queue->wait();
  EXPECT_EQ(std::memcmp(memory.data(), memory.data() + 2 * kBlock, 2 * kBlock), 0);
}

TEST_P(QueueTest, errors_name_operation_path_offset_and_reason_and_the_queue_lives_on) {
  const File made = file();
  made.allocate(4 * kBlock);
  const Memory memory(kBlock);
  const auto queue = this->queue(2);
  const auto run = [&](Direction direction) {
    return message_of<Error>([&] {
      queue->submit(transfer(made, direction, memory.span(), kBlock));
      queue->wait();
    });
  };
  {
    const Faults faults("read:1:EIO,write:1:ENOSPC");
    EXPECT_EQ(run(Direction::kRead), "read " + scratch_.path() + ": Input/output error (at offset 4096)");
    EXPECT_EQ(run(Direction::kWrite),
              "write " + scratch_.path() + ": No space left on device (at offset 4096, 0 of 4096 bytes written)");
    EXPECT_EQ(queue->in_flight(), 0U);
  }
  EXPECT_EQ(run(Direction::kRead), "");
}

TEST_P(QueueTest, errors_of_the_kernel_are_reported) {
  const File full = File::open("/dev/full", O_WRONLY, 0, "open");
  const File closed(1'000'000, "closed", false);
  const Memory memory(kBlock);
  const auto queue = this->queue(2);
  queue->submit(transfer(full, Direction::kWrite, memory.span(), 0));
  EXPECT_NE(message_of<Error>([&] { queue->wait(); }).find("write /dev/full: No space left on device"),
            std::string::npos);
  EXPECT_NE(message_of<Error>([&] {
              queue->submit(transfer(closed, Direction::kRead, memory.span(), 0));
              queue->wait();
            }).find("read closed: Bad file descriptor"),
            std::string::npos);
}

TEST_P(QueueTest, one_error_among_many_leaves_the_others_whole) {
  const File made = file();
  const std::vector<std::byte> content = random_bytes(8 * kBlock, 4);
  const Memory memory(8 * kBlock);
  std::copy(content.begin(), content.end(), memory.data());
  const auto queue = this->queue(8);
  move_all(*queue, made, Direction::kWrite, memory.span(), 0, kBlock);
  std::memset(memory.data(), 0, 8 * kBlock);
  const Faults faults("read:3:EIO");
  for (std::size_t i = 0; i < 8; ++i)
    queue->submit(transfer(made, Direction::kRead, memory.span().subspan(i * kBlock, kBlock), i * kBlock, i));
  std::size_t failed = 0;
  while (queue->in_flight() > 0) {
    try {
      const std::size_t at = queue->wait().tag * kBlock;
      EXPECT_EQ(std::memcmp(memory.data() + at, content.data() + at, kBlock), 0);
    } catch (const Error&) {
      ++failed;
    }
  }
  EXPECT_EQ(failed, 1U);
}

TEST_P(QueueTest, what_never_gets_on_ends_as_an_error) {
  const File made = file();
  made.allocate(kBlock);
  const Memory memory(kBlock);
  const auto queue = this->queue(1);
  const Faults faults("read:1+:EINTR");
  queue->submit(transfer(made, Direction::kRead, memory.span(), 0));
  EXPECT_NE(message_of<Error>([&] { queue->wait(); }).find("Interrupted system call"), std::string::npos);
}

TEST_P(QueueTest, calls_and_bytes_are_counted) {
  const File made = file();
  const Memory memory(6 * kBlock);
  const Traffic before = traffic();
  const auto queue = this->queue(3);
  move_all(*queue, made, Direction::kWrite, memory.span(), 0, 2 * kBlock);
  move_all(*queue, made, Direction::kRead, memory.span(), 0, kBlock);
  const Traffic after = traffic();
  const auto calls = [&](Call kind) {
    return after.calls[static_cast<std::size_t>(kind)] - before.calls[static_cast<std::size_t>(kind)];
  };
  EXPECT_EQ(after.bytes_written - before.bytes_written, 6 * kBlock);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 6 * kBlock);
  EXPECT_EQ(calls(Call::kWrite), 3U);
  EXPECT_EQ(calls(Call::kRead), 6U);
}

TEST_P(QueueTest, a_flipped_bit_in_a_read_is_injected_for_all) {
  const File made = file();
  const Memory memory(kBlock);
  std::memset(memory.data(), 0, kBlock);
  const auto queue = this->queue(1);
  move_all(*queue, made, Direction::kWrite, memory.span(), 0, kBlock);
  const Faults faults("read:1:corrupt");
  move_all(*queue, made, Direction::kRead, memory.span(), 0, kBlock);
  EXPECT_EQ(std::count(memory.data(), memory.data() + kBlock, std::byte{0}), kBlock - 1);
}

TEST_P(QueueTest, destruction_waits_until_nobody_writes_into_the_memory) {
  const File made = file();
  made.allocate(64 * kBlock);
  for (int round = 0; round < 20; ++round) {
    auto memory = std::make_unique<Memory>(64 * kBlock);
    {
      const auto queue = this->queue(64);
      for (std::size_t i = 0; i < 64; ++i)
        queue->submit(transfer(made, Direction::kRead, memory->span().subspan(i * kBlock, kBlock), i * kBlock, i));
      if (round % 2 == 0) queue->wait();
    }
    std::memset(memory->data(), round, 64 * kBlock);
    EXPECT_EQ(std::count(memory->data(), memory->data() + 64 * kBlock, static_cast<std::byte>(round)), 64 * kBlock);
  }
}

TEST_P(QueueTest, many_queues_work_on_one_file_at_a_time) {
  const File made = file();
  made.allocate(8 * 16 * kBlock);
  std::vector<std::thread> owners;
  std::atomic<int> whole{0};
  for (std::uint64_t owner = 0; owner < 8; ++owner) {
    owners.emplace_back([&, owner] {
      const Memory memory(16 * kBlock);
      std::memset(memory.data(), static_cast<int>(owner), 16 * kBlock);
      const auto queue = this->queue(4);
      move_all(*queue, made, Direction::kWrite, memory.span(), owner * 16 * kBlock, 3 * kBlock);
      std::memset(memory.data(), 99, 16 * kBlock);
      move_all(*queue, made, Direction::kRead, memory.span(), owner * 16 * kBlock, 5 * kBlock);
      const auto right = std::count(memory.data(), memory.data() + 16 * kBlock, static_cast<std::byte>(owner));
      if (right == 16 * kBlock) ++whole;
    });
  }
  for (std::thread& owner : owners) owner.join();
  EXPECT_EQ(whole, 8);
}

INSTANTIATE_TEST_SUITE_P(AllBackends, QueueTest, testing::ValuesIn(all_ways()), testing::PrintToStringParamName());

constexpr const char* kFiltered = "HETSORT_TEST_FILTERED";

TEST(MakeQueue, a_filter_that_lets_rings_be_made_but_not_used_leaves_threads) {
  // A program of its own: a process asks for io_uring only once.
  EXPECT_EQ(test::in_child([] {
              if (!test::refuse_call(__NR_io_uring_enter, EPERM)) return 0;
              ::setenv(kFiltered, "1", 1);
              ::execl("/proc/self/exe", "test", "--gtest_filter=Filtered.*", "--gtest_brief=1", nullptr);
              return 99;
            }),
            0);
}

// What the test before runs in a process of its own.
TEST(Filtered, io_uring_is_not_available) {
  if (std::getenv(kFiltered) == nullptr) return;
  EXPECT_FALSE(uring_available());
  EXPECT_EQ(direct_backend(Access::kAuto), Backend::kThreads);
  EXPECT_THROW(make_queue(Backend::kUring, 1), Error);
}

TEST(MakeQueue, io_uring_that_cannot_be_had_is_an_error_that_says_so) {
  const std::string message = message_of<Error>([] { make_queue(Backend::kUring, 1'000'000); });
  EXPECT_EQ(message.find("set up io_uring: "), 0U);
}

TEST(MakeQueue, availability_is_what_making_one_shows) {
  EXPECT_EQ(uring_available(), message_of<Error>([] { make_queue(Backend::kUring, 1); }).empty());
}

}  // namespace
}  // namespace hetsort::io::test
