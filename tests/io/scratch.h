// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of io/ share: a folder that is gone afterwards, whole files at once, children that are somebody else.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "io/calls/system_calls.h"
#include "io/file_system.h"
#include "tests/machinery/fault_plan.h"

namespace hetsort::io::test {

/// A fresh folder, open to all users because some tests become another; removed with all in it.
class Scratch {
 public:
  explicit Scratch(const std::string& parent = std::filesystem::temp_directory_path().string()) {
    std::string pattern = parent + "/hetsort-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
    std::filesystem::permissions(path_, std::filesystem::perms::all);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// The names in it.
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.insert(entry.path().filename().string());
    return found;
  }

 private:
  std::string path_;
};

/// A folder whose files lie in memory; where there is none, the one for temporary files.
inline std::string memory_folder() {
  const std::string usual = "/dev/shm";
  return storage_of(usual) == Storage::kMemory ? usual : std::filesystem::temp_directory_path().string();
}

/// A fault plan that ends with the scope.
class Faults {
 public:
  explicit Faults(const std::string& plan) { machinery::set_fault_plan(plan); }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults() { machinery::set_fault_plan(""); }
};

inline std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

inline void write_all(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
}

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

inline std::vector<std::byte> random_bytes(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t) + 1);
  for (std::uint64_t& each : words) each = random();
  const auto made = std::as_bytes(std::span(words)).first(bytes);
  return {made.begin(), made.end()};
}

/// Runs `action` in a child process and returns its exit status: what `action` returned, or 128 + the signal.
template <typename Action>
int in_child(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(action());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs the action in a child process as a user without rights of its own: root may do anything, whatever the modes.
template <typename Action>
int as_nobody(const Action& action) {
  return in_child([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) return 99;
    return action();
  });
}

/// The message of the E that `action` throws; empty when it does not.
template <typename E, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace hetsort::io::test
