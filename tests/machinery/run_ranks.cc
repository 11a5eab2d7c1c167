// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the same body on ranks that are threads.
#include <exception>
#include <stdexcept>
#include <thread>

#include "tests/machinery/in_process.h"

namespace hetsort::machinery {

namespace {

void run_one(comm::Communicator& ranks, const RankBody& body, RankEnd& end) {
  try {
    body(ranks);
  } catch (const comm::PeerFailed& failed) {
    end.error = std::current_exception();
    end.message = failed.what();
  } catch (const std::exception& error) {
    end.error = std::current_exception();
    end.message = error.what();
    ranks.fail(error.what());
  }
  end.conclusion = ranks.conclude();
}

}  // namespace

std::vector<RankEnd> try_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body) {
  const std::vector<comm::MakeTransport> job = make_in_process_job(count, seed, options);
  std::vector<RankEnd> ends(job.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < job.size(); ++rank)
    threads.emplace_back([&, rank] {
      RankEnd& end = ends[rank];
      try {
        comm::Communicator ranks(job[rank], options.communicator);
        run_one(ranks, body, end);
      } catch (const std::exception& error) {
        if (!end.error) end.error = std::current_exception();
        if (end.message.empty()) end.message = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return ends;
}

void run_ranks(int count, std::uint64_t seed, const InProcessOptions& options, const RankBody& body) {
  const std::vector<RankEnd> ends = try_ranks(count, seed, options, body);
  std::exception_ptr peer_failed;
  for (const RankEnd& end : ends) {
    if (!end.error) continue;
    try {
      std::rethrow_exception(end.error);
    } catch (const comm::PeerFailed&) {
      peer_failed = end.error;
    }
  }
  if (peer_failed) std::rethrow_exception(peer_failed);
  for (const RankEnd& end : ends)
    if (!end.conclusion.empty()) throw std::runtime_error(end.conclusion);
}

}  // namespace hetsort::machinery
