// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts that are killed at random moments, from their start to their end: a single process, a rank or the launcher,
// with files or with pipes whose writer lives on. HETSORT_TEST_KILLS sets how many are, HETSORT_TEST_FORWARDS how many
// launchers die while they forward standard input.
#include <atomic>
#include <csignal>
#include <map>
#include <random>
#include <thread>

#include "tests/cli/mpirun_shell.h"
#include "tests/seeds.h"

namespace hetsort::cli::test {
namespace {

using hetsort::test::case_seed;
using hetsort::test::environment_number;
using hetsort::test::test_seed;

/// The processes that work in `folder`, zombies excepted.
std::vector<pid_t> processes_in(const std::filesystem::path& folder) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int number = std::atoi(entry.path().filename().c_str());
    std::error_code gone;
    if (number > 0 && std::filesystem::read_symlink(entry.path() / "cwd", gone) == folder) found.push_back(number);
  }
  return found;
}

/// "sort", "mpirun"; empty for a process that is gone.
std::string command_of(pid_t process) {
  std::string name = io::test::read_all("/proc/" + std::to_string(process) + "/comm");
  return name.empty() ? name : name.substr(0, name.size() - 1);
}

/// One job that gets a signal.
struct Kill {
  std::string job{};     ///< shell command, run in the background
  bool own = false;      ///< its outputs are d/out.0 and d/out.1, else d/out
  std::string target{};  ///< "job", or a rank's number
  std::string signal{};
  double part = 0;  ///< fraction of such a job's time after which the signal comes
};

// Calls are slow, so that most moments fall into the work.
constexpr const char* kProcessFaults =
    "export HETSORT_FAULTS=read:~2:delay10,write:~2:delay10,link:~1:delay30,rename:~1:delay30,sync:~1:delay30\n";
constexpr const char* kJobFaults =
    "export HETSORT_FAULTS=read:~2:delay20,write:~2:delay20,link:~2:delay100,rename:~2:delay100\n";

/// A folder with inputs, old outputs and the right new ones, in which jobs are killed one after the other.
class Victims {
 public:
  Victims() {
    shell_.allow_victims();
    const Outcome made = shell_.run(
        "mkdir new && mkfifo fifo && $H gen 20000 d/all && head -c 1000000 d/all >d/in.0 && tail -c 1000000 d/all "
        ">d/in.1 "
        "&& $H sort d/all -o new/out && head -c 1000000 new/out >new/out.0 && tail -c 1000000 new/out >new/out.1");
    EXPECT_EQ(made.exit_code, 0) << made;
    // The writer of a pipe that stays open after all records are written.
    shell_.write("feed", "echo $$ >feeder\n[ -z \"$2\" ] || exec >$2\nhead -c $1 d/all\nexec sleep 60\n");
  }

  /// Kills, waits for the end of all processes, and checks what is there.
  void kill(const Kill& kill) {
    restore();
    const std::string pid = kill.target == "job" ? "$P" : "$(cat pids/" + kill.target + ")";
    const std::string began = kill.target == "job" ? "true" : "[ -s pids/" + kill.target + " ]";
    const Outcome outcome =
        shell_.run(kMpirun + (kLibraries + kill.job) + " & P=$!\nfor i in $(seq 500); do " + began +
                   " && break; sleep 0.01; done\nsleep " + std::to_string(kill.part * seconds_of(kill.job)) +
                   "\nkill -" + kill.signal + " " + pid + " 2>/dev/null; true\n");
    wait_for_all(outcome);
    EXPECT_LE(messages({0, "", shell_.file("err")}), 1) << shell_.file("err");
    check_whole(kill.own, true);
    // The next run on these outputs removes what the killed one has left.
    const Outcome next = shell_.run(kill.own ? "for r in 0 1; do $H sort d/in.$r -o d/out.$r || exit; done"
                                             : "$H sort d/all -o d/out && cmp d/out new/out");
    EXPECT_EQ(next.exit_code, 0) << next;
    check_names(false);
  }

  int replaced() const { return replaced_; }
  int hung_launchers() const { return hung_launchers_; }

 private:
  // Without timeout(1), which would be killed in the place of mpirun. A shell lets background commands ignore SIGINT.
  static constexpr const char* kMpirun = "M='env --default-signal=INT " HETSORT_MPIRUN "'\n";

  // UCX, which MPICH uses, takes SIGHUP while libraries are loaded. main() gives it back, but some moments lie before.
  static constexpr const char* kLibraries = "export UCX_DEBUG_SIGNO=0\n";

  /// How long such a job takes if it is not killed, with input that ends.
  double seconds_of(const std::string& job) {
    const bool alone = job.find("$M") == std::string::npos;
    double& seconds = alone ? process_seconds_ : job_seconds_;
    if (seconds > 0) return seconds;
    const std::string sort = alone ? "$H sort d/all -o d/out" : "$M -n 2 $A sort d/all -o d/out";
    const Outcome whole = shell_.run(std::string(kMpirun) + (alone ? kProcessFaults : kJobFaults) + sort);
    EXPECT_EQ(whole.exit_code, 0) << whole;
    seconds = shell_.seconds();
    restore();
    return seconds;
  }

  void restore() {
    const Outcome made = shell_.run("rm -f pids/* feeder err; for o in out out.0 out.1; do echo old >d/$o; done");
    EXPECT_EQ(made.exit_code, 0) << made;
  }

  /// Open MPI's mpirun itself may hang when its ranks are gone.
  void wait_for_all(const Outcome& outcome) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(10);
    std::vector<pid_t> left = all_but_the_feeder();
    while (!left.empty() && Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      left = all_but_the_feeder();
    }
    for (const pid_t process : left) {
      const std::string command = command_of(process);
      const bool launcher = command == "mpirun" || command == "orterun";
      // "head" writes to a launcher that hangs.
      EXPECT_TRUE(launcher || command == "head") << command << " is left after 10 s: " << outcome;
      hung_launchers_ += launcher ? 1 : 0;
    }
    for (const pid_t process : processes_in(folder_)) ::kill(process, SIGKILL);
    while (!processes_in(folder_).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::vector<pid_t> all_but_the_feeder() const {
    std::vector<pid_t> found = processes_in(folder_);
    std::erase(found, static_cast<pid_t>(std::atoi(shell_.file("feeder").c_str())));
    return found;
  }

  /// Nothing but inputs and whole outputs, old or new; perhaps parts.
  void check_whole(bool own, bool part_may_stay) {
    check_names(part_may_stay);
    int fresh = 0;
    for (const std::string& name : own ? std::vector<std::string>{"out.0", "out.1"} : std::vector<std::string>{"out"}) {
      const std::string now = shell_.file("d/" + name);
      EXPECT_TRUE(now == "old\n" || now == shell_.file("new/" + name)) << name << " has " << now.size() << " bytes";
      fresh += now == "old\n" ? 0 : 1;
    }
    replaced_ += fresh > 0 ? 1 : 0;
  }

  void check_names(bool part_may_stay) {
    const std::string parts = part_may_stay ? " | grep -v '^\\.out.*\\.hetsort-.*\\.part$'" : "";
    EXPECT_EQ(shell_.run("ls -A d" + parts).out, "all\nin.0\nin.1\nout\nout.0\nout.1\n");
    EXPECT_EQ(shell_.names_in("t"), "");
  }

  MpiShell shell_;
  std::filesystem::path folder_ = std::filesystem::canonical(shell_.path());
  double process_seconds_ = 0;
  double job_seconds_ = 0;
  int replaced_ = 0;
  int hung_launchers_ = 0;
};

/// Draws kills.
class KillDraw {
 public:
  explicit KillDraw(std::uint64_t seed) : random_(seed) {}

  Kill of_one_process() {
    Kill kill{.target = "job", .signal = one_of({"KILL", "KILL", "TERM", "HUP", "SEGV"}), .part = moment()};
    const std::string sort = "$H sort --progress none -T t " + one_of({"", "-S 1M "}) + "-o d/out ";
    kill.job = kProcessFaults;
    kill.job += one_of({sort + "d/all 2>err", "sh ./feed 2000000 | " + sort + "2>err",
                        "sh ./feed 500000 | " + sort + "2>err", "cat d/all | " + sort + "2>err", sort + "fifo 2>err"});
    if (kill.job.find("fifo") != std::string::npos) kill.job = "sh ./feed 2000000 fifo & " + kill.job;
    return kill;
  }

  Kill of_a_job() {
    Kill kill{.own = random_() % 2 == 0, .target = one_of({"job", "0", "1"}), .part = moment()};
    kill.signal = kill.target == "job" ? one_of({"KILL", "TERM", "INT", "SEGV"}) : one_of({"KILL", "KILL", "SEGV"});
    const std::string sort = "$M -n 2 $A sort --progress none -T t --stall-timeout 5 " + one_of({"", "-S 4M "}) +
                             one_of({"", "--exchange inline ", "--exchange threads "}) +
                             (kill.own ? "--strategy equal -o 'd/out.{rank}' " : "-o d/out ");
    kill.job = kJobFaults;
    const std::string piped = "--records 20000 2>err";
    kill.job +=
        one_of({sort + (kill.own ? "'d/in.{rank}' 2>err" : "d/all 2>err"), "sh ./feed 2000000 | " + sort + piped,
                "sh ./feed 500000 | " + sort + piped, sort + "--root-input fifo 2>err"});
    if (kill.job.find("fifo") != std::string::npos) kill.job = "sh ./feed 2000000 fifo & " + kill.job;
    return kill;
  }

  /// The launcher of a job that reads standard input, of which a part has come.
  Kill of_a_forwarding_launcher() {
    Kill kill{.own = random_() % 2 == 0, .target = "job", .part = moment()};
    kill.signal = one_of({"INT", "TERM", "SEGV", "KILL"});
    kill.job = "sh ./feed 3000 | $M -n 2 $A sort --progress none -T t --records 20000 " +
               std::string(kill.own ? "-o 'd/out.{rank}'" : "-o d/out") + " 2>err";
    return kill;
  }

 private:
  std::string one_of(const std::vector<std::string>& choices) { return choices[random_() % choices.size()]; }
  /// From the start to a little after the end.
  double moment() { return static_cast<double>(random_() % 1100) / 1000; }

  std::mt19937_64 random_;
};

/// Calls work(victims, number) for all numbers below `count`, in several folders at the same time: jobs mostly wait.
template <typename Work>
void kill_in_parallel(std::uint64_t count, const Work& work) {
  constexpr int kFolders = 3;
  std::atomic<std::uint64_t> next{0};
  std::atomic<int> replaced{0};
  std::atomic<int> hung{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kFolders; ++i)
    threads.emplace_back([&] {
      Victims victims;
      for (std::uint64_t number = next++; number < count && !testing::Test::HasFailure(); number = next++)
        work(victims, number);
      replaced += victims.replaced();
      hung += victims.hung_launchers();
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d of %d jobs had published before they were killed; mpirun itself hung %d times\n", replaced.load(),
              static_cast<int>(count), hung.load());
}

std::string describe(const Kill& kill, std::uint64_t number) {
  return "HETSORT_TEST_SEED=" + std::to_string(test_seed()) + ", kill " + std::to_string(number) + ": SIG" +
         kill.signal + " to " + kill.target + " after " + std::to_string(kill.part) + " of its time: " + kill.job;
}

TEST(Kills, leave_whole_outputs_and_no_processes_and_the_next_run_no_files) {
  const std::uint64_t kills = environment_number("HETSORT_TEST_KILLS", hetsort::test::kSanitized ? 12 : 60);
  kill_in_parallel(kills, [](Victims& victims, std::uint64_t number) {
    KillDraw draw(case_seed(number));
    const Kill kill = number % 3 == 0 ? draw.of_a_job() : draw.of_one_process();
    SCOPED_TRACE(describe(kill, number));
    victims.kill(kill);
  });
}

TEST(Kills, by_a_signal_end_a_command_that_reads_a_pipe) {
  const Shell shell;
  for (const auto& [name, number] : std::map<std::string, int>{{"HUP", SIGHUP}, {"INT", SIGINT}, {"TERM", SIGTERM}}) {
    const Outcome ended = shell.run("rm -f pipe && mkfifo pipe && exec 3<>pipe\nenv --default-signal=" + name +
                                    " $H validate - <&3 & P=$!\nsleep 0.5\nkill -" + name +
                                    " $P\nfor i in $(seq 100); do kill -0 $P 2>/dev/null || break; sleep 0.1; done\n"
                                    "kill -KILL $P 2>/dev/null\nwait $P");
    EXPECT_EQ(ended.exit_code, 128 + number) << name << ": " << ended;
  }
}

TEST(Kills, of_a_launcher_that_forwards_standard_input_leave_the_old_output) {
  kill_in_parallel(environment_number("HETSORT_TEST_FORWARDS", 6), [](Victims& victims, std::uint64_t number) {
    KillDraw draw(case_seed(number));
    const Kill kill = draw.of_a_forwarding_launcher();
    SCOPED_TRACE(describe(kill, number));
    const int before = victims.replaced();
    victims.kill(kill);
    EXPECT_EQ(victims.replaced(), before);
  });
}

}  // namespace
}  // namespace hetsort::cli::test
