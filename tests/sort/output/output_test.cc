// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output.h"

#include "tests/machinery/fault_plan.h"
#include "tests/machinery/in_process.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

constexpr std::uint64_t kLargeBytes = std::uint64_t{5} << 20;

TEST(Output, is_written_buffered_where_it_cannot_be_opened_again) {
  const Scratch folder;
  comm::Communicator alone;
  Output output({.options = {.paths = {folder / "out"}}, .access = io::Access::kThreads}, alone);
  {
    // As without /proc.
    const Faults faults("open:1:ENOENT");
    output.reserve(kLargeBytes);
    EXPECT_EQ(machinery::faults_fired(), io::direct_io(*output.first_volume().files().buffered).possible ? 1U : 0U);
  }
  EXPECT_EQ(output.first_volume().files().direct, nullptr);
  const Bytes written(kLargeBytes, std::byte{7});
  output.first_volume().files().buffered->write_at(written, 0);
  output.prepare();
  output.publish();
  EXPECT_EQ(read_bytes(folder / "out"), written);
}

TEST(Output, of_all_ranks_is_written_directly_by_each) {
  const Scratch folder;
  // The staged file has bytes from the beginning, so it is in the page cache.
  for (const machinery::RankEnd& end : machinery::try_ranks(3, test_seed(), {}, [&](comm::Communicator& ranks) {
         Output output({.options = {.paths = {folder / "out"}}, .shared = true}, ranks);
         output.reserve(kLargeBytes);
         const io::File& file = *output.first_volume().files().buffered;
         const bool direct = io::direct_io(file).possible && io::storage_of(file.descriptor()) != io::Storage::kMemory;
         EXPECT_EQ(output.first_volume().files().direct != nullptr, direct);
         ranks.barrier();
       }))
    EXPECT_EQ(end.conclusion, "");
}

TEST(Output, is_staged_under_a_name_where_there_is_no_proc) {
  const Scratch folder;
  comm::Communicator alone;
  {
    const Faults faults("stat:1:ENOENT");
    Output output({.options = {.paths = {folder / "out"}}}, alone);
    EXPECT_EQ(folder.names().size(), 1U);
    output.reserve(4);
    output.first_volume().files().buffered->write_at(Bytes(4), 0);
    output.prepare();
    output.publish();
  }
  EXPECT_EQ(folder.names(), std::set<std::string>{"out"});
}

}  // namespace
}  // namespace hetsort::sort::test
