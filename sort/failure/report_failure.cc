// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/failure/report_failure.h"

#include <new>

#include "io/error.h"
#include "io/format/content.h"
#include "partition/error.h"
#include "sort/failure/cancelled.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

comm::FailurePlace failure_place(const std::exception& error) {
  using comm::FailureKind;
  if (const auto* const of_content = dynamic_cast<const io::ContentError*>(&error))
    return {FailureKind::kRequest, of_content->operation(), of_content->path()};
  if (const auto* const of_file = dynamic_cast<const io::Error*>(&error))
    return {FailureKind::kFile, of_file->operation(), of_file->path()};
  if (dynamic_cast<const MemoryTooSmall*>(&error) != nullptr) return {FailureKind::kMemory};
  if (dynamic_cast<const RequestError*>(&error) != nullptr) return {FailureKind::kRequest};
  if (dynamic_cast<const partition::PlanError*>(&error) != nullptr) return {FailureKind::kRequest};
  if (dynamic_cast<const ProofError*>(&error) != nullptr) return {FailureKind::kProof};
  if (dynamic_cast<const Cancelled*>(&error) != nullptr) return {FailureKind::kCancelled};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return {FailureKind::kMemory};
  return {};
}

void drain_after_failure(comm::Communicator& ranks) noexcept {
  if (!ranks.failed()) return;
  try {
    ranks.drain();
  } catch (const comm::PeerFailed&) {
    // The job was aborted. Its failure is reported by the code that frees the memory of the messages.
  }
}

}  // namespace hetsort::sort
