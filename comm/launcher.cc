// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.h"

#include <stdexcept>
#include <string>
#include <utility>

#if HETSORT_MPI
#include "comm/transport/mpi.h"
#endif

namespace hetsort::comm {

namespace {

WrapTransport wrapper = nullptr;

}  // namespace

void set_transport_wrapper(WrapTransport wrap) { wrapper = wrap; }

#if HETSORT_MPI

std::string mpi_name() { return mpi_library() == MpiLibrary::kOpenMpi ? "Open MPI" : "MPICH"; }

std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& options) {
  if (!uses_mpi(use, mpi_library(), own_variable)) return std::make_unique<Communicator>();
  CommunicatorOptions patient = options;
  patient.start_allowance_seconds = start_allowance_seconds();
  const auto make = [&](ExchangeMode mode) {
    auto transport = make_mpi_transport(mode, patient);
    return wrapper == nullptr ? std::move(transport) : wrapper(std::move(transport));
  };
  auto ranks = std::make_unique<Communicator>(make, patient);
  const std::string wrong = wrong_launcher(ranks->size(), mpi_library(), own_variable);
  if (wrong.empty()) return ranks;
  // Every rank finds the same contradiction.
  ranks->conclude();
  throw WrongLauncher(wrong);
}

std::unique_ptr<Communicator> adopt_communicator(const ProgramCommunicator& ranks, const CommunicatorOptions& options) {
  const std::string own = mpi_name();
  if (ranks.mpi != own || ranks.handle_bytes != mpi_handle_bytes())
    throw std::runtime_error("the communicator is one of " + ranks.mpi + ", but libhetsort was built for " + own);
  return std::make_unique<Communicator>([&](ExchangeMode) { return make_mpi_transport_over(ranks.handle); }, options);
}

#else

std::string mpi_name() { return "none"; }

std::unique_ptr<Communicator> adopt_communicator(const ProgramCommunicator& ranks, const CommunicatorOptions&) {
  throw std::runtime_error("the communicator is one of " + ranks.mpi + ", but libhetsort was built without MPI");
}

std::unique_ptr<Communicator> make_communicator(MpiUse use, const CommunicatorOptions& /*options*/) {
  static_cast<void>(uses_mpi(use, MpiLibrary::kNone, own_variable));
  return std::make_unique<Communicator>();
}

#endif

}  // namespace hetsort::comm
