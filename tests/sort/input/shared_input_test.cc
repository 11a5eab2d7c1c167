// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one process stand for hosts: each is given a path of its own as the INPUT that all share.
#include "sort/input/shared_input.h"

#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

constexpr std::size_t kSharedRecords = 5000;

/// Files of one size on two hosts.
class TwoHosts {
 public:
  explicit TwoHosts(std::size_t records = kSharedRecords)
      : bytes_(make_records({Distribution::kUniform, {100, 0, 10}, records, test_seed()})) {
    put("in.0", bytes_);
  }
  /// The second host's file: other bytes from `changed` on.
  void put_second(std::size_t changed, std::size_t count) {
    Bytes other = bytes_;
    for (std::size_t at = changed; at < changed + count; ++at) other.at(at) ^= std::byte{1};
    put("in.1", other);
  }
  void set_time(const std::string& name, std::filesystem::file_time_type time) const {
    std::filesystem::last_write_time(folder_ / name, time);
  }
  void link_second() const { std::filesystem::create_hard_link(folder_ / "in.0", folder_ / "in.1"); }
  std::size_t size_bytes() const { return bytes_.size(); }

  /// The outcome of a sort that each rank believes to share its file with the other.
  std::string sort() const {
    std::string conclusion;
    const auto body = [&](comm::Communicator& ranks) {
      Monitor monitor;
      RankResult result;
      SortOptions options;
      options.input.paths = {folder_ / ("in." + std::to_string(ranks.rank()))};
      options.output.paths = {folder_ / "out"};
      options.memory_bytes = std::uint64_t{512} << 20;
      options.output.sync = false;
      sort_records(options, ranks, monitor, result);
    };
    for (const machinery::RankEnd& end : machinery::try_ranks(2, test_seed(), {}, body)) conclusion = end.conclusion;
    return conclusion;
  }
  bool has_output() const { return folder_.names().contains("out"); }
  bool output_is_sorted() const { return is_sorted_form(read_bytes(folder_ / "out"), bytes_, {100, 0, 10}); }

 private:
  void put(const std::string& name, const Bytes& bytes) const { write_bytes(folder_ / name, bytes); }

  Bytes bytes_;
  Scratch folder_;
};

TEST(SharedInput, another_file_of_the_same_name_and_size_is_refused_by_rank_host_and_path) {
  for (const bool at_the_end : {false, true}) {
    TwoHosts hosts;
    hosts.put_second(at_the_end ? hosts.size_bytes() - 1 : 0, 1);
    const std::string message = hosts.sort();
    EXPECT_NE(message.find("rank 1 (node1)"), std::string::npos) << message;
    EXPECT_NE(message.find("in.1"), std::string::npos) << message;
    EXPECT_NE(message.find("not shared"), std::string::npos) << message;
    EXPECT_FALSE(hosts.has_output());
  }
}

TEST(SharedInput, another_file_with_the_same_first_and_last_block_is_refused) {
  TwoHosts hosts;
  const std::filesystem::file_time_type now = std::filesystem::file_time_type::clock::now();
  hosts.put_second(5000, hosts.size_bytes() - 2 * 5000);
  hosts.set_time("in.1", now - std::chrono::hours(1));
  EXPECT_NE(hosts.sort().find("not shared"), std::string::npos);
}

TEST(SharedInput, one_file_is_never_refused) {
  TwoHosts one_file;
  one_file.link_second();
  EXPECT_EQ(one_file.sort(), "");
  EXPECT_TRUE(one_file.output_is_sorted());
}

TEST(SharedInput, equal_copies_are_taken) {
  for (const std::size_t records : {std::size_t{0}, std::size_t{1}, kSharedRecords}) {
    TwoHosts copies(records);
    copies.put_second(0, 0);
    copies.set_time("in.1", std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    EXPECT_EQ(copies.sort(), "");
    EXPECT_TRUE(copies.output_is_sorted());
  }
}

TEST(SharedInput, contents_decide_and_inode_or_time_confirm) {
  const FileIdentity file{.inode = 5, .modified_nanoseconds = 7, .fingerprint = 9};
  EXPECT_EQ(compare(file, file), Sameness::kSame);
  // sshfs makes up inodes; an NFS client may know an old time.
  EXPECT_EQ(compare(file, {6, 7, 9}), Sameness::kSame);
  EXPECT_EQ(compare(file, {5, 8, 9}), Sameness::kSame);
  EXPECT_EQ(compare(file, {6, 8, 9}), Sameness::kInDoubt);
  EXPECT_EQ(compare(file, {5, 7, 10}), Sameness::kDifferent);
}

}  // namespace
}  // namespace hetsort::sort::test
