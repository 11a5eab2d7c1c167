// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/shares/ask_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "io/calls/retry.h"
#include "io/error.h"
#include "io/file.h"
#include "job/report/json.h"
#include "job/request/request_error.h"

namespace hetsort::job {

namespace {

constexpr std::size_t kMaxLineInMessage = 200;

io::File memory_file(const std::string& name) {
  const int descriptor = ::memfd_create("hetsort", MFD_CLOEXEC);
  if (descriptor < 0) throw io::Error("create", name, errno);
  return {descriptor, name};
}

std::string text_of(const io::File& file) {
  std::string text(file.status().size_bytes, '\0');
  text.resize(file.read_at(std::as_writable_bytes(std::span(text)), 0));
  return text;
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The streams of a program.
struct Streams {
  io::File in = memory_file("the problem for a program");
  io::File out = memory_file("the answer of a program");
  io::File err = memory_file("the messages of a program");
};

/// A program that runs. The destructor kills it if it has not ended.
class Child {
 public:
  /// Throws: RequestError if it cannot be started.
  Child(const std::vector<std::string>& words, const Streams& streams) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    int standard = 0;
    for (const io::File* const file : {&streams.in, &streams.out, &streams.err})
      ::posix_spawn_file_actions_adddup2(&actions, file->descriptor(), standard++);
    // Neither the files of a sort nor the connections of MPI concern it.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, standard);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int error = ::posix_spawnp(&id_, arguments.front(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0)
      throw RequestError(fmt::format("cannot run {}: {}", words.front(), std::generic_category().message(error)));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (ended_) return;
    ::kill(id_, SIGKILL);
    static_cast<void>(io::retry_interrupted([this] { return ::waitpid(id_, nullptr, 0); }));
  }

  /// What waitpid() says of a program that has ended. Throws: io::Error.
  std::optional<int> status() {
    int status = 0;
    const pid_t found = io::retry_interrupted([&] { return ::waitpid(id_, &status, WNOHANG); });
    if (found == 0) return std::nullopt;
    ended_ = true;
    if (found < 0) throw io::Error("wait for", "a program", errno);
    return status;
  }

 private:
  pid_t id_ = 0;
  bool ended_ = false;
};

/// Waits until the program ends. Throws: RequestError if it reaches a limit.
int status_at_end(Child& child, const Streams& streams, const ProgramLimits& limits) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(limits.seconds);
  constexpr std::chrono::milliseconds kLongestPause{20};
  for (std::chrono::milliseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    const std::optional<int> status = child.status();
    for (const io::File* const file : {&streams.out, &streams.err})
      if (file->status().size_bytes > limits.output_bytes)
        throw RequestError(fmt::format("printed more than {} MiB", limits.output_bytes >> 20));
    if (status) return *status;
    if (std::chrono::steady_clock::now() >= deadline)
      throw RequestError(fmt::format("did not end within {} s", limits.seconds));
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.find_last_of("\r\n", end) + 1;
  return printable(text.substr(begin, std::min(end + 1 - begin, kMaxLineInMessage)));
}

ProgramAnswer ask_program(const std::string& command, const std::string& question, const ProgramLimits& limits) {
  const std::vector<std::string> words = words_of(command);
  if (words.empty()) throw RequestError("no program is named");
  const Streams streams;
  streams.in.write_at(std::as_bytes(std::span(question)), 0);
  Child child(words, streams);
  std::string mistake;
  try {
    const int status = status_at_end(child, streams, limits);
    if (WIFSIGNALED(status)) mistake = fmt::format("was ended by signal {}", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      mistake = fmt::format("failed with exit code {}", WEXITSTATUS(status));
  } catch (const RequestError& error) {
    mistake = error.what();
  }
  ProgramAnswer answer{text_of(streams.out), text_of(streams.err)};
  if (mistake.empty()) return answer;
  const std::string said = last_line(answer.err);
  throw RequestError(fmt::format("{} {}{}{}", words.front(), mistake, said.empty() ? "" : ": ", said));
}

}  // namespace hetsort::job
