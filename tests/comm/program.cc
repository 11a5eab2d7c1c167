// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The program that black-box tests start under a launcher. Its arguments are WHAT RANK [SECONDS]: rank RANK does WHAT.
#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "comm/launcher.h"

namespace hetsort::comm::test {

namespace {

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void sum(Communicator& ranks) {
  std::uint64_t value = 1;
  ranks.all_reduce_sum({&value, 1});
}

/// The value of MPI's variable `name`, of type size_t.
std::size_t size_in_mpi(const char* name) {
  int level = 0;
  int index = -1;
  int count = 0;
  std::int64_t value = 0;  // of a size_t or, in little-endian, of an int
  MPI_T_cvar_handle handle = nullptr;
  const bool read = MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS &&
                    MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
                    MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS &&
                    MPI_T_cvar_read(handle, &value) == MPI_SUCCESS;
  if (!read) throw std::runtime_error(fmt::format("MPI does not report {}", name));
  MPI_T_finalize();
  return static_cast<std::size_t>(value);
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Makes rank `rank` do `what` between two reductions of all ranks.
void run(Communicator& ranks, const std::string& what, int rank, double seconds) {
  ranks.set_phase("exchange");
  sum(ranks);
  const double before = cpu_seconds();
  if (ranks.rank() == rank) {
    if (what == "fail") throw std::runtime_error("boom");
    if (what == "leave") std::exit(3);
    if (what == "kill") ::raise(SIGKILL);
    if (what == "stop") ::raise(SIGSTOP);
    if (what == "sleep") sleep_for(seconds);
  }
  if (what == "sizes" && ranks.rank() == rank)
    fmt::print("{} {} {}\n", size_in_mpi("btl_tcp_eager_limit"), size_in_mpi("btl_tcp_max_send_size"),
               size_in_mpi("btl_tcp_sndbuf"));
  const auto begin = Communicator::Clock::now();
  sum(ranks);
  if (what == "sleep" && ranks.rank() != rank)
    fmt::print("rank {} waited with {:.1f} % of a core\n", ranks.rank(), 100 * (cpu_seconds() - before) / seconds);
  if (what != "reduce") return;
  constexpr int kTimes = 1000;
  for (int i = 0; i < kTimes; ++i) sum(ranks);
  const double all = std::chrono::duration<double>(Communicator::Clock::now() - begin).count();
  if (ranks.rank() == 0) fmt::print("a reduction takes {:.0f} us\n", all / kTimes * 1e6);
}

}  // namespace

}  // namespace hetsort::comm::test

int main(int argc, char** argv) {
  using namespace hetsort::comm;  // NOLINT(google-build-using-namespace)
  const std::string what = argc > 1 ? argv[1] : "";
  const int rank = argc > 2 ? std::atoi(argv[2]) : 0;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1;
  const char* mode = std::getenv("MODE");
  const char* stall_timeout = std::getenv("STALL_TIMEOUT");
  CommunicatorOptions options;
  options.mode = static_cast<ExchangeMode>(mode == nullptr ? 1 : std::atoi(mode));
  options.stall_timeout_seconds = stall_timeout == nullptr ? 2 : std::atof(stall_timeout);
  options.heartbeat_seconds = 0.2;
  try {
    const std::unique_ptr<Communicator> ranks = make_communicator(MpiUse::kAuto, options);
    try {
      test::run(*ranks, what, rank, seconds);
    } catch (const PeerFailed&) {
      // The rank that failed has reported it.
    } catch (const std::exception& error) {
      ranks->fail(error.what());
    }
    const std::string outcome = ranks->conclude();
    if (!outcome.empty() && ranks->rank() == 0) fmt::print(stderr, "hetsort: {}\n", outcome);
#ifdef HETSORT_OTHER_BUILD
    if (ranks->rank() == 0) fmt::print("another build\n");
#endif
    if (ranks->rank() == 0) fmt::print("{} ranks\n", ranks->size());
    return outcome.empty() ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hetsort: {}\n", error.what());
    return 2;
  }
}
