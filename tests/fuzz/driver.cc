// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target without libFuzzer: on mutations of its seeds, or on the files that are named as arguments.
//
// HETSORT_TEST_SEED       chooses the mutations; by default it is drawn, and printed
// HETSORT_FUZZ_EXECUTIONS how many inputs are tried; by default as many as fit 3 seconds
// HETSORT_FUZZ_FIRST      number of the first input: with the printed seed it repeats one that was found
// A fault prints seed and number of the input and writes the input to fuzz-fault.bin in the current folder. An input
// that takes longer than kMaxSeconds of processor time is a fault.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutation.h"

// NOLINTNEXTLINE(readability-identifier-naming): the sanitizers' name
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace hetsort::fuzz::test {
namespace {

// Planners promise a plan within a second; sanitizers take some times longer.
constexpr long kMaxSeconds = 10;
constexpr double kDefaultSeconds = 3;

/// What is being tried, for whatever ends the process.
struct Trial {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  const std::string* input = nullptr;
  const char* reason = "crashed";
};
Trial trial;

void report_fault() {
  if (trial.input == nullptr) return;
  std::array<char, 256> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "fuzz: input %llu of HETSORT_TEST_SEED=%llu: %s; it is in fuzz-fault.bin\n",
      static_cast<unsigned long long>(trial.number), static_cast<unsigned long long>(trial.seed), trial.reason);
  static_cast<void>(!::write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length)));
  const int fd = ::open("fuzz-fault.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd >= 0) static_cast<void>(!::write(fd, trial.input->data(), trial.input->size()));
  trial.input = nullptr;
}

void on_signal(int signal) {
  if (signal == SIGPROF) trial.reason = "takes longer than 10 s of processor time";
  report_fault();
  std::signal(signal, SIG_DFL);
  ::raise(signal == SIGPROF ? SIGABRT : signal);
}

void watch() {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) std::signal(signal, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(report_fault);
}

void try_input(const std::string& input, std::uint64_t number) {
  trial.number = number;
  trial.input = &input;
  const itimerval limit{{0, 0}, {kMaxSeconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  } catch (const std::exception& error) {
    fail(std::string("threw: ") + error.what());
  }
  trial.input = nullptr;
}

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

int try_mutations() {
  const bool counted = std::getenv("HETSORT_FUZZ_EXECUTIONS") != nullptr;
  const std::uint64_t executions = number_of("HETSORT_FUZZ_EXECUTIONS", UINT64_MAX);
  const std::uint64_t first = number_of("HETSORT_FUZZ_FIRST", 0);
  trial.seed = number_of("HETSORT_TEST_SEED", std::random_device{}());
  Mutator mutator(trial.seed, seeds(), words());
  const std::clock_t begin = std::clock();
  std::uint64_t done = 0;
  for (; done < executions; ++done) {
    if (!counted && static_cast<double>(std::clock() - begin) > kDefaultSeconds * CLOCKS_PER_SEC) break;
    try_input(mutator.input(first + done), first + done);
  }
  std::fprintf(stderr, "%llu inputs without a fault, HETSORT_TEST_SEED=%llu\n", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(trial.seed));
  return 0;
}

}  // namespace

void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  trial.reason = "broke what must hold";
  std::abort();
}

}  // namespace hetsort::fuzz::test

int main(int argc, char** argv) {
  using namespace hetsort::fuzz::test;  // NOLINT(google-build-using-namespace)
  watch();
  if (argc < 2) return try_mutations();
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    try_input(input, 0);
    std::printf("%s: %zu bytes, no fault\n", argv[i], input.size());
  }
  return 0;
}
