// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/machinery/environment.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "comm/launcher.h"
#include "tests/machinery/fault_plan.h"
#include "tests/machinery/faulty_transport.h"

namespace hetsort::machinery {
namespace {

std::unique_ptr<comm::Transport> with_fault_of_environment(std::unique_ptr<comm::Transport> transport) {
  return with_fault(std::move(transport), parse_message_fault(std::getenv("HETSORT_MESSAGE_FAULT")));
}

}  // namespace

void use_faults_of_environment() {
  if (const char* plan = std::getenv("HETSORT_FAULTS")) set_fault_plan(plan);
  if (std::getenv("HETSORT_MESSAGE_FAULT") != nullptr) comm::set_transport_wrapper(with_fault_of_environment);
}

}  // namespace hetsort::machinery
