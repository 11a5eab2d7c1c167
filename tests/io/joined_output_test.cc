// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Another file in the place of a staged output, on other storage or planted there: as ranks that join it find it, and
// as its owner does.
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "io/error.h"
#include "io/publish.h"
#include "tests/io/scratch.h"

namespace hetsort::io::test {
namespace {

/// An output staged by rank 0, and what another rank finds in the folder "other" instead of its storage.
class OtherStorage : public testing::Test {
 protected:
  OtherStorage() {
    for (const char* name : {"own", "other"}) std::filesystem::create_directory(scratch_ / name);
    output_.emplace(scratch_ / "own/out", Staging::kNamed);
    invitation_ = output_->invite();
    other_ = invitation_;
    other_.folder = scratch_ / "other";
  }

  std::string planted() const { return other_.folder + "/" + other_.part; }
  std::string join_error() const {
    return message_of<Error>([&] { const JoinedOutput joined(other_, "out"); });
  }
  /// The message when what was planted is refused for `reason`; the file stays.
  void expect_refused(const std::string& reason) const {
    EXPECT_EQ(join_error(), "open out: folder " + other_.folder +
                                " is not the storage on which rank 0 stages the output (" + other_.part + ": " +
                                reason + "); use a folder that all ranks share, or a file for each rank with {rank}");
    EXPECT_EQ(::access(planted().c_str(), F_OK) == 0, reason != "No such file or directory");
  }

  const Scratch scratch_;
  std::optional<OutputFile> output_;
  Invitation invitation_;
  Invitation other_;
};

TEST_F(OtherStorage, the_owners_own_file_is_joined) {
  JoinedOutput joined(invitation_, "out");
  joined.file().write_at(bytes_of("joined"), 0);
  joined.prepare(true);
  joined.leave();
  output_->set_final_size(6);
  output_->publish(true);
  EXPECT_EQ(read_all(scratch_ / "own/out"), "joined");
}

TEST_F(OtherStorage, without_the_part_is_refused) { expect_refused("No such file or directory"); }

TEST_F(OtherStorage, with_a_stale_part_of_the_same_name_is_refused) {
  std::filesystem::copy_file(invitation_.folder + "/" + invitation_.part, planted());
  ::chmod(planted().c_str(), 0600);
  EXPECT_EQ(join_error(), "") << "a copy with the same nonce is taken for the file";
  write_all(planted(), "0123456789abcdef0123456789abcdef and more");
  expect_refused("another file of this name");
  write_all(planted(), "short");
  expect_refused("another file of this name");
}

TEST_F(OtherStorage, with_a_planted_file_that_others_may_read_is_refused) {
  write_all(planted(), invitation_.nonce);
  for (const mode_t mode : {0644, 0660, 0604}) {
    ::chmod(planted().c_str(), mode);
    expect_refused("another owner or other permissions");
  }
}

TEST_F(OtherStorage, with_another_users_file_is_refused) {
  if (::geteuid() == 0) {
    write_all(planted(), invitation_.nonce);
    ::chmod(planted().c_str(), 0600);
    ASSERT_EQ(::chown(planted().c_str(), 65534, 65534), 0);
    expect_refused("another owner or other permissions");
  }
}

TEST_F(OtherStorage, with_a_link_or_pipe_of_that_name_is_refused) {
  write_all(scratch_ / "victim", invitation_.nonce);
  ::chmod((scratch_ / "victim").c_str(), 0600);
  std::filesystem::create_symlink(scratch_ / "victim", planted());
  expect_refused("Too many levels of symbolic links");
  std::filesystem::remove(planted());
  std::filesystem::create_hard_link(scratch_ / "victim", planted());
  expect_refused("not a regular file with one name");
  std::filesystem::remove(planted());
  ASSERT_EQ(::mkfifo(planted().c_str(), 0600), 0);
  expect_refused("not a regular file with one name");
}

/// A folder that others may write: one of them puts a link in the place of the staged part.
TEST(PlantedFile, a_link_in_the_place_of_the_part_is_not_published) {
  for (const char* const link : {"victim", "nothing", "hard"}) {
    const Scratch scratch;
    write_all(scratch / "victim", "victim");
    write_all(scratch / "out", "old");
    const std::string message = message_of<Error>([&] {
      OutputFile output(scratch / "out", Staging::kNamed);
      output.file().write_at(bytes_of("new"), 0);
      const std::string part = scratch / output.invite().part;
      std::filesystem::remove(part);
      if (link == std::string("hard"))
        std::filesystem::create_hard_link(scratch / "victim", part);
      else
        std::filesystem::create_symlink(link, part);
      output.publish(true);
    });
    EXPECT_TRUE(message.starts_with("publish " + scratch / "out" + ": another process has replaced .out.hetsort-"))
        << message;
    EXPECT_EQ(read_all(scratch / "out"), "old");
    EXPECT_EQ(read_all(scratch / "victim"), "victim");
  }
}

TEST(PlantedFile, a_link_that_comes_while_the_part_is_renamed_is_an_error) {
  const Scratch scratch;
  write_all(scratch / "out", "old");
  const Faults slow("rename:1:delay500");
  OutputFile output(scratch / "out", Staging::kNamed);
  const std::string part = scratch / output.invite().part;
  const std::uint64_t fired = machinery::faults_fired();
  std::thread attacker([&] {
    while (machinery::faults_fired() == fired) std::this_thread::yield();
    std::filesystem::remove(part);
    std::filesystem::create_symlink("nothing", part);
  });
  const std::string message = message_of<Error>([&] { output.publish(true); });
  attacker.join();
  EXPECT_TRUE(message.starts_with("publish " + scratch / "out" + ": another process has replaced ")) << message;
}

}  // namespace
}  // namespace hetsort::io::test
