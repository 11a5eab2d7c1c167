// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The harness under mpirun. MPI is started once, and each test makes its own communicator.
#include <mpi.h>

#include <cstdio>

#include "comm/transport/mpi.h"
#include "tests/comm/harness.h"

namespace hetsort::comm::test {

std::vector<Setting> settings() {
  const int ranks = ranks_for(1);
  return {{ranks, ExchangeMode::kInline}, {ranks, ExchangeMode::kThread}, {ranks, ExchangeMode::kThreads}};
}

int ranks_for(int /*wanted*/) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool has_all_ranks() { return ranks_for(1) == 1; }

bool has_first_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

std::vector<machinery::RankEnd> run_once(int /*ranks*/, std::uint64_t /*seed*/,
                                         const machinery::InProcessOptions& options, const machinery::RankBody& body) {
  machinery::RankEnd end;
  try {
    const auto make = [&](ExchangeMode mode) { return make_mpi_transport(mode, options.communicator); };
    Communicator ranks(make, options.communicator);
    try {
      body(ranks);
    } catch (const PeerFailed& failed) {
      end.message = failed.what();
    } catch (const std::exception& error) {
      end.message = error.what();
      ranks.fail(error.what());
    }
    end.conclusion = ranks.conclude();
  } catch (const std::exception& error) {
    end.message = error.what();
  }
  return {end};
}

void on_ranks(const Setting& setting, const machinery::RankBody& body,
              const std::function<void(const machinery::RankEnd&)>& look) {
  machinery::InProcessOptions options;
  options.communicator.mode = setting.mode;
  const std::vector<machinery::RankEnd> ends = run_once(setting.ranks, 0, options, body);
  SCOPED_TRACE(::testing::Message() << setting);
  look(ends.front());
}

}  // namespace hetsort::comm::test

int main(int argc, char** argv) {
  int level = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS || level != MPI_THREAD_MULTIPLE) {
    std::fputs("MPI does not provide MPI_THREAD_MULTIPLE\n", stderr);
    return 2;
  }
  ::testing::InitGoogleTest(&argc, argv);
  const bool quiet = !hetsort::comm::test::has_first_rank();
  if (quiet) {
    // The other ranks print failures only.
    ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  class FailurePrinter : public ::testing::EmptyTestEventListener {
    void OnTestPartResult(const ::testing::TestPartResult& result) override {
      if (result.failed())
        std::fprintf(stderr, "%s:%d: %s\n", result.file_name() == nullptr ? "?" : result.file_name(),
                     result.line_number(), result.message());
    }
  };
  if (quiet) ::testing::UnitTest::GetInstance()->listeners().Append(new FailurePrinter);
  const int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return status;
}
