// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// MPI's calls on messages between two ranks, with the profiling interface (PMPI) behind them. A send is recorded when
// it begins, a receive when the message has arrived.
#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bench/research/trace/mpi_values.h"
#include "bench/research/trace/recorder.h"

namespace hetsort::research::trace {
namespace {

/// A message that was asked for and has not arrived, or one that a persistent request sends or receives again and
/// again.
struct Pending {
  MPI_Comm comm = MPI_COMM_NULL;
  bool sends = false;
  bool persistent = false;
  int partner = 0;  ///< receiver of a persistent send
  int tag = 0;
  std::int64_t bytes = 0;
};

std::mutex pending_mutex;
std::unordered_map<MPI_Request, Pending> pending_of;
std::unordered_map<MPI_Message, MPI_Comm> comm_of_matched;  // messages that were found and not received; same mutex

void remember(MPI_Request request, const Pending& pending) {
  if (request == MPI_REQUEST_NULL) return;
  const std::lock_guard lock(pending_mutex);
  pending_of[request] = pending;
}

void sent(int to, int tag, std::int64_t bytes, MPI_Comm comm) {
  if (to != MPI_PROC_NULL) Recorder::instance().message(CallKind::kSend, world_rank(to, comm), bytes, tag);
}

void arrived(const MPI_Status& status, MPI_Comm comm) {
  int cancelled = 0;
  int bytes = 0;
  PMPI_Test_cancelled(&status, &cancelled);
  PMPI_Get_count(&status, MPI_BYTE, &bytes);
  if (cancelled == 0 && status.MPI_SOURCE != MPI_PROC_NULL && status.MPI_SOURCE >= 0)
    Recorder::instance().message(CallKind::kReceive, world_rank(status.MPI_SOURCE, comm), std::max(0, bytes),
                                 status.MPI_TAG);
}

/// A request has completed. `request`: as it was before the call.
void completed(MPI_Request request, const MPI_Status& status) {
  Pending pending;
  {
    const std::lock_guard lock(pending_mutex);
    const auto found = pending_of.find(request);
    if (found == pending_of.end()) return;
    pending = found->second;
    if (!pending.persistent) pending_of.erase(found);
  }
  if (!pending.sends) arrived(status, pending.comm);
}

void started(MPI_Request request) {
  Pending pending;
  {
    const std::lock_guard lock(pending_mutex);
    const auto found = pending_of.find(request);
    if (found == pending_of.end()) return;
    pending = found->second;
  }
  if (pending.sends) sent(pending.partner, pending.tag, pending.bytes, pending.comm);
}

template <typename Real>
int send(const char* name, const Message& message, Real real) {
  const InsideCall inside(name);
  if (inside.is_recorded()) sent(message.partner, message.tag, bytes_of(message.count, message.type), message.comm);
  return real();
}

template <typename Real>
int receive_later(const char* name, MPI_Comm comm, MPI_Request* request, Real real) {
  const InsideCall inside(name);
  const int code = real();
  if (inside.is_recorded() && code == MPI_SUCCESS) remember(*request, {.comm = comm});
  return code;
}

template <typename Real>
int send_again(const char* name, const Message& message, MPI_Request* request, Real real) {
  const InsideCall inside(name);
  const int code = real();
  if (code == MPI_SUCCESS)
    remember(*request, {message.comm, true, true, message.partner, message.tag, bytes_of(message.count, message.type)});
  return code;
}

/// Calls `real` with a status of its own if the program wants none, and then records what has arrived.
template <typename Real>
int receive_now(const char* name, MPI_Comm comm, MPI_Status* status, Real real) {
  const InsideCall inside(name);
  MPI_Status own;
  MPI_Status* const used = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = real(used);
  if (inside.is_recorded() && code == MPI_SUCCESS) arrived(*used, comm);
  return code;
}

void matched(MPI_Message message, MPI_Comm comm) {
  const std::lock_guard lock(pending_mutex);
  comm_of_matched[message] = comm;
}

MPI_Comm take_matched(MPI_Message message) {
  const std::lock_guard lock(pending_mutex);
  const auto found = comm_of_matched.extract(message);
  return found.empty() ? MPI_COMM_WORLD : found.mapped();
}

/// A call that waits for requests or tests them. It has the requests as they were before, and statuses of its own if
/// the program wants none.
class Completion {
 public:
  Completion(const char* name, int count, const MPI_Request* requests, MPI_Status* statuses)
      : inside_(name), before_(requests, requests + std::max(0, count)), statuses_(statuses) {
    if (statuses != MPI_STATUSES_IGNORE && statuses != MPI_STATUS_IGNORE) return;
    own_.resize(std::max<std::size_t>(1, before_.size()));
    statuses_ = own_.data();
  }
  MPI_Status* statuses() { return statuses_; }
  /// The request at `place` has completed; its status is the one at `status`.
  void record(int place, int status) {
    if (inside_.is_recorded()) completed(before_[static_cast<std::size_t>(place)], statuses_[status]);
  }
  void record_all() {
    for (std::size_t i = 0; i < before_.size(); ++i) record(static_cast<int>(i), static_cast<int>(i));
  }
  void record_some(int count, const int* places) {
    for (int i = 0; i < count; ++i) record(places[i], i);
  }
  void nothing() {
    if (inside_.is_recorded()) Recorder::instance().found_nothing();
  }

 private:
  InsideCall inside_;
  std::vector<MPI_Request> before_;
  std::vector<MPI_Status> own_;
  MPI_Status* statuses_;
};

}  // namespace
}  // namespace hetsort::research::trace

using namespace hetsort::research::trace;  // NOLINT(google-build-using-namespace): the calls below are in no namespace

extern "C" {
// NOLINTBEGIN(readability-function-size): the parameters are MPI's

int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send("MPI_Send", {count, type, to, tag, comm}, [&] { return PMPI_Send(from, count, type, to, tag, comm); });
}

int MPI_Ssend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send("MPI_Ssend", {count, type, to, tag, comm}, [&] { return PMPI_Ssend(from, count, type, to, tag, comm); });
}

int MPI_Rsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send("MPI_Rsend", {count, type, to, tag, comm}, [&] { return PMPI_Rsend(from, count, type, to, tag, comm); });
}

int MPI_Bsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return send("MPI_Bsend", {count, type, to, tag, comm}, [&] { return PMPI_Bsend(from, count, type, to, tag, comm); });
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return send("MPI_Isend", {count, type, to, tag, comm},
              [&] { return PMPI_Isend(from, count, type, to, tag, comm, request); });
}

int MPI_Issend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return send("MPI_Issend", {count, type, to, tag, comm},
              [&] { return PMPI_Issend(from, count, type, to, tag, comm, request); });
}

int MPI_Irsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return send("MPI_Irsend", {count, type, to, tag, comm},
              [&] { return PMPI_Irsend(from, count, type, to, tag, comm, request); });
}

int MPI_Ibsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return send("MPI_Ibsend", {count, type, to, tag, comm},
              [&] { return PMPI_Ibsend(from, count, type, to, tag, comm, request); });
}

int MPI_Recv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive_now("MPI_Recv", comm, status,
                     [&](MPI_Status* used) { return PMPI_Recv(into, count, type, from, tag, comm, used); });
}

int MPI_Irecv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return receive_later("MPI_Irecv", comm, request,
                       [&] { return PMPI_Irecv(into, count, type, from, tag, comm, request); });
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  return receive_now("MPI_Sendrecv", comm, status, [&](MPI_Status* used) {
    if (Recorder::instance().is_on()) sent(to, out_tag, bytes_of(out_count, out_type), comm);
    return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, used);
  });
}

int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                         MPI_Comm comm, MPI_Status* status) {
  return receive_now("MPI_Sendrecv_replace", comm, status, [&](MPI_Status* used) {
    if (Recorder::instance().is_on()) sent(to, out_tag, bytes_of(count, type), comm);
    return PMPI_Sendrecv_replace(data, count, type, to, out_tag, from, in_tag, comm, used);
  });
}

int MPI_Send_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return send_again("MPI_Send_init", {count, type, to, tag, comm}, request,
                    [&] { return PMPI_Send_init(from, count, type, to, tag, comm, request); });
}

int MPI_Ssend_init(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return send_again("MPI_Ssend_init", {count, type, to, tag, comm}, request,
                    [&] { return PMPI_Ssend_init(from, count, type, to, tag, comm, request); });
}

int MPI_Recv_init(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const InsideCall inside("MPI_Recv_init");
  const int code = PMPI_Recv_init(into, count, type, from, tag, comm, request);
  if (code == MPI_SUCCESS) remember(*request, {.comm = comm, .persistent = true});
  return code;
}

int MPI_Start(MPI_Request* request) {
  const InsideCall inside("MPI_Start");
  if (inside.is_recorded()) started(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  const InsideCall inside("MPI_Startall");
  for (int i = 0; i < count && inside.is_recorded(); ++i) started(requests[i]);
  return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
  const InsideCall inside("MPI_Request_free");
  {
    const std::lock_guard lock(pending_mutex);
    pending_of.erase(*request);
  }
  return PMPI_Request_free(request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Completion completion("MPI_Wait", 1, request, status);
  const int code = PMPI_Wait(request, completion.statuses());
  if (code == MPI_SUCCESS) completion.record_all();
  return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* statuses) {
  Completion completion("MPI_Waitall", count, requests, statuses);
  const int code = PMPI_Waitall(count, requests, completion.statuses());
  if (code == MPI_SUCCESS) completion.record_all();
  return code;
}

int MPI_Waitany(int count, MPI_Request requests[], int* place, MPI_Status* status) {
  Completion completion("MPI_Waitany", count, requests, status);
  const int code = PMPI_Waitany(count, requests, place, completion.statuses());
  if (code == MPI_SUCCESS && *place != MPI_UNDEFINED) completion.record(*place, 0);
  return code;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done, int places[], MPI_Status* statuses) {
  Completion completion("MPI_Waitsome", count, requests, statuses);
  const int code = PMPI_Waitsome(count, requests, done, places, completion.statuses());
  if (code == MPI_SUCCESS && *done != MPI_UNDEFINED) completion.record_some(*done, places);
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Completion completion("MPI_Test", 1, request, status);
  const int code = PMPI_Test(request, flag, completion.statuses());
  if (code == MPI_SUCCESS) *flag != 0 ? completion.record_all() : completion.nothing();
  return code;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
  Completion completion("MPI_Testall", count, requests, statuses);
  const int code = PMPI_Testall(count, requests, flag, completion.statuses());
  if (code == MPI_SUCCESS) *flag != 0 ? completion.record_all() : completion.nothing();
  return code;
}

int MPI_Testany(int count, MPI_Request requests[], int* place, int* flag, MPI_Status* status) {
  Completion completion("MPI_Testany", count, requests, status);
  const int code = PMPI_Testany(count, requests, place, flag, completion.statuses());
  if (code == MPI_SUCCESS && *flag == 0) completion.nothing();
  if (code == MPI_SUCCESS && *flag != 0 && *place != MPI_UNDEFINED) completion.record(*place, 0);
  return code;
}

int MPI_Testsome(int count, MPI_Request requests[], int* done, int places[], MPI_Status* statuses) {
  Completion completion("MPI_Testsome", count, requests, statuses);
  const int code = PMPI_Testsome(count, requests, done, places, completion.statuses());
  if (code != MPI_SUCCESS) return code;
  *done > 0 ? completion.record_some(*done, places) : completion.nothing();
  return code;
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const InsideCall inside("MPI_Probe");
  return PMPI_Probe(from, tag, comm, status);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const InsideCall inside("MPI_Iprobe");
  const int code = PMPI_Iprobe(from, tag, comm, flag, status);
  if (inside.is_recorded() && *flag == 0) Recorder::instance().found_nothing();
  return code;
}

int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  const InsideCall inside("MPI_Mprobe");
  const int code = PMPI_Mprobe(from, tag, comm, message, status);
  if (code == MPI_SUCCESS) matched(*message, comm);
  return code;
}

int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  const InsideCall inside("MPI_Improbe");
  const int code = PMPI_Improbe(from, tag, comm, flag, message, status);
  if (code == MPI_SUCCESS && *flag != 0) matched(*message, comm);
  if (inside.is_recorded() && *flag == 0) Recorder::instance().found_nothing();
  return code;
}

int MPI_Mrecv(void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  return receive_now("MPI_Mrecv", take_matched(*message), status,
                     [&](MPI_Status* used) { return PMPI_Mrecv(into, count, type, message, used); });
}

int MPI_Imrecv(void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  return receive_later("MPI_Imrecv", take_matched(*message), request,
                       [&] { return PMPI_Imrecv(into, count, type, message, request); });
}

// NOLINTEND(readability-function-size)
}  // extern "C"
