// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Every command where the system allows few threads: it works with fewer, or says that it cannot.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "tests/cli/program.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

/// A folder of a user who may have only so many threads. Root becomes a user of its own; the threads of any other user
/// count too, which makes the limit tighter.
class FewThreads {
 public:
  explicit FewThreads(rlim_t threads) : limit_{threads, threads} {
    // The folder of the build may be closed to other users.
    std::filesystem::copy_file(HETSORT_PROGRAM, folder_ / "hetsort");
    std::filesystem::permissions(folder_ / "hetsort", std::filesystem::perms(0755));
  }

  /// Runs the program; its standard output is a pipe that is read to its end.
  Outcome run(std::vector<std::string> arguments) const {
    std::filesystem::remove(folder_ / "err");
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) std::abort();
    const pid_t child = ::fork();
    if (child == 0) become_user_and_run(arguments, ends[1]);
    ::close(ends[1]);
    Outcome outcome;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
      outcome.out.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.err = io::test::read_all(folder_ / "err");
    return outcome;
  }
  std::string file(const std::string& name) const { return io::test::read_all(folder_ / name); }

 private:
  [[noreturn]] void become_user_and_run(std::vector<std::string>& arguments, int out) const {
    const int err = ::open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    const bool ready = ::chdir(folder_.path().c_str()) == 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
                       ::dup2(err, STDERR_FILENO) >= 0 && ::setrlimit(RLIMIT_NPROC, &limit_) == 0 &&
                       (::geteuid() != 0 || (::setgid(user_) == 0 && ::setuid(user_) == 0));
    // The search for leaks starts a thread of its own.
    if (!ready || ::setenv("LSAN_OPTIONS", "detect_leaks=0", 1) != 0) ::_exit(99);
    std::vector<char*> words{const_cast<char*>("hetsort")};
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    ::execv((folder_ / "hetsort").c_str(), words.data());
    ::_exit(98);
  }

  io::test::Scratch folder_;
  rlimit limit_;
  uid_t user_ = 1'000'000'000 + static_cast<uid_t>(::getpid()) % 1'000'000;
};

/// Whether it succeeded, or ended with one message about threads.
::testing::AssertionResult succeeded_or_said_why(const Outcome& outcome) {
  if (outcome.exit_code == 0) return ::testing::AssertionSuccess();
  return failed_with(outcome, "thread");
}

TEST(FewThreads, every_command_uses_fewer_or_says_why_not) {
  for (const rlim_t allowed : hetsort::test::kSanitized ? std::vector<rlim_t>{2} : std::vector<rlim_t>{1, 2, 3, 5, 8}) {
    SCOPED_TRACE(allowed);
    const FewThreads user(allowed);
    ASSERT_TRUE(succeeded_or_said_why(user.run({"gen", "-j", "8", "100000", "in"})));
    if (user.file("in").empty()) continue;
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"sort", "-j", "8", "in", "-o", "out"},
                                               {"sort", "-j", "8", "-S", "3M", "in", "-o", "out"},
                                               {"sort", "-j", "8", "-S", "3M", "--io", "threads", "in", "-o", "out"}}) {
      const Outcome sorted = user.run(command);
      EXPECT_TRUE(succeeded_or_said_why(sorted)) << command.size();
      if (sorted.exit_code == 0) {
        EXPECT_EQ(user.file("out").size(), user.file("in").size());
      }
    }
    const Outcome to_pipe = user.run({"sort", "-j", "8", "in"});
    EXPECT_TRUE(succeeded_or_said_why(to_pipe));
    if (to_pipe.exit_code == 0) {
      EXPECT_EQ(to_pipe.out.size(), user.file("in").size());
    }
    EXPECT_EQ(user.run({"validate", "-q", "-j", "8", "in"}).exit_code, 1);
    EXPECT_TRUE(succeeded_or_said_why(user.run({"plan", "-n", "1000", "--speeds", "1,2"})));
  }
}

TEST(FewThreads, calibrate_uses_fewer_or_says_why_not) {
  for (const rlim_t allowed : {1U, 3U}) {
    const FewThreads user(allowed);
    EXPECT_TRUE(succeeded_or_said_why(
        user.run({"calibrate", "-q", "-j", "8", "-S", "64M", "-T", ".", "--max-seconds", "1", "-o", "c.toml"})));
  }
}

}  // namespace
}  // namespace hetsort::cli::test
