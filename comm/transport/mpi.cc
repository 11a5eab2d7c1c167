// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/transport/mpi.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "comm/base/abort_action.h"
#include "comm/base/deadline.h"
#include "comm/base/launch_environment.h"

namespace hetsort::comm {

namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw std::runtime_error(
      fmt::format("{}: {}", call, length > 0 ? std::string(text.data(), length) : fmt::format("error {}", code)));
}

bool is_too_long(int code) {
  int error_class = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}

int narrow(std::size_t count, const char* call) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error(fmt::format("{}: {} bytes are more than one message holds", call, count));
  return static_cast<int>(count);
}

const char* name_of_level(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

/// How long MPI's own start and end may take.
struct Patience {
  double stall_timeout_seconds = 0;
  double allowance_seconds = 0;

  explicit Patience(const CommunicatorOptions& options)
      : stall_timeout_seconds(options.stall_timeout_seconds), allowance_seconds(options.start_allowance_seconds) {}
};

/// Ends this process if `call` waits too long for other ranks. Where that is longer than --stall-timeout by more than a
/// moment, rank 0 explains meanwhile why nothing happens.
Deadline deadline_of(const char* call, const Patience& patience) {
  constexpr double kMoment = 10;
  const int rank = launched_rank().value_or(0);
  const double limit = patience.stall_timeout_seconds + patience.allowance_seconds;
  DeadlineNote note;
  if (rank == 0 && patience.allowance_seconds > kMoment)
    note = {
        patience.stall_timeout_seconds,
        fmt::format("{} has waited {:.0f} s for all ranks, which is usual with many ranks on few processors; if one "
                    "is missing, the job ends after {:.0f} s",
                    call, patience.stall_timeout_seconds, limit)};
  return {limit + turn_seconds(rank),
          fmt::format("rank {}: {}: waited {:.0f} s for all ranks: one is stalled or unreachable, or uses no MPI", rank,
                      call, limit),
          std::move(note)};
}

/// Waits without a limit for the end of a job that succeeded: if a rank ended now without MPI, its launcher would
/// report a failure. Rank 0 reports why the job does not end.
Deadline patient_deadline_of(const char* call, const Patience& patience) {
  DeadlineNote note;
  if (launched_rank().value_or(0) == 0)
    note = {
        patience.stall_timeout_seconds + patience.allowance_seconds,
        fmt::format("{} has waited {:.0f} s for all ranks: one of them or the launcher is stopped or unreachable; the "
                    "job is done and its output complete",
                    call, patience.stall_timeout_seconds + patience.allowance_seconds)};
  return {std::numeric_limits<double>::infinity(), "", std::move(note)};
}

/// Makes Open MPI send over TCP without asking the receiver first, which it does up to 64 KiB by default, and through
/// sockets that hold few bytes, which the system would let grow to megabytes. Sizes that the user has set stay. MPICH
/// has no such variables. Requires: no other thread runs.
void set_up_tcp() {
  if (mpi_library() != MpiLibrary::kOpenMpi) return;
  const auto set = [](const char* name, std::size_t bytes) {
    static_cast<void>(::setenv(name, std::to_string(bytes).c_str(), 0));
  };
  set("OMPI_MCA_btl_tcp_eager_limit", kEagerBytes);
  set("OMPI_MCA_btl_tcp_max_send_size", kEagerBytes);
  set("OMPI_MCA_btl_tcp_sndbuf", kSocketBytes);
}

/// MPI itself. The object that starts MPI ends it.
class Session {
 public:
  Session(ExchangeMode mode, const Patience& patience) : patience_(patience) {
    int running = 0;
    check(MPI_Initialized(&running), "MPI_Initialized");
    int level = needed(mode, false);
    int provided = MPI_THREAD_SINGLE;
    if (running == 0) {
      set_up_tcp();
      const Deadline deadline = deadline_of("MPI_Init_thread", patience_);
      check(MPI_Init_thread(nullptr, nullptr, level, &provided), "MPI_Init_thread");
      ours_ = true;
    } else {
      int is_main = 0;
      check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
      level = needed(mode, is_main == 0);
      check(MPI_Query_thread(&provided), "MPI_Query_thread");
    }
    if (provided >= level) return;
    end();
    throw std::runtime_error(
        fmt::format("MPI gives {}, but this exchange needs {}", name_of_level(provided), name_of_level(level)));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { end(); }
  bool is_ours() const { return ours_; }
  void job_succeeded() { job_succeeded_ = true; }

 private:
  void end() const {
    if (!ours_) return;
    const Deadline deadline =
        job_succeeded_ ? patient_deadline_of("MPI_Finalize", patience_) : deadline_of("MPI_Finalize", patience_);
    MPI_Finalize();
  }

  static int needed(ExchangeMode mode, bool another_thread) {
    if (mode == ExchangeMode::kThreads) return MPI_THREAD_MULTIPLE;
    return mode == ExchangeMode::kInline || another_thread ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
  }

  const Patience patience_;
  bool ours_ = false;
  bool job_succeeded_ = false;
};

/// The requests of one direction, numbered.
class Requests {
 public:
  explicit Requests(bool receives) : receives_(receives) {}

  Request add(MPI_Request request) {
    requests_.push_back(request);
    numbers_.push_back(next_++);
    return numbers_.back();
  }

  void cancel(Request number) {
    const auto found = std::ranges::lower_bound(numbers_, number);
    if (found == numbers_.end() || *found != number) return;
    check(MPI_Cancel(&requests_[static_cast<std::size_t>(found - numbers_.begin())]), "MPI_Cancel");
  }

  void test(std::vector<Completion>& completed) {
    if (requests_.empty()) return;
    const int count = narrow(requests_.size(), "MPI_Testsome");
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int done = 0;
    const int code = MPI_Testsome(count, requests_.data(), &done, indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check(code, "MPI_Testsome");
    if (done <= 0) return;  // MPI_UNDEFINED is negative
    int broken = MPI_SUCCESS;
    for (int i = 0; i < done; ++i) {
      const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
      // MPI sets this field only if the call returns MPI_ERR_IN_STATUS.
      const int error = code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS;
      completed.push_back(
          completion(numbers_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])], status, error));
      if (error != MPI_SUCCESS && !is_too_long(error)) broken = error;
    }
    forget_done();
    check(broken, "MPI_Testsome");
  }

 private:
  Completion completion(Request number, const MPI_Status& status, int error) const {
    Completion result{number};
    if (!receives_) return result;  // the status of a send says nothing else
    if (is_too_long(error)) {
      result.end = Completion::End::kTooLong;
      return result;
    }
    int cancelled = 0;
    check(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
    if (cancelled != 0 || error != MPI_SUCCESS) {
      result.end = Completion::End::kCancelled;
      return result;
    }
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    if (bytes > 0) result.bytes = static_cast<std::size_t>(bytes);
    return result;
  }

  /// Removes completed requests.
  void forget_done() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      requests_[kept] = requests_[i];
      numbers_[kept++] = numbers_[i];
    }
    requests_.resize(kept);
    numbers_.resize(kept);
  }

  const bool receives_;
  Request next_ = 1;
  std::vector<MPI_Request> requests_;
  std::vector<Request> numbers_;  // numbers_[i] belongs to requests_[i]; they ascend
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
};

/// Throws: std::runtime_error unless the program has started MPI and this thread may call it.
void check_running_mpi() {
  int running = 0;
  int ended = 0;
  check(MPI_Initialized(&running), "MPI_Initialized");
  check(MPI_Finalized(&ended), "MPI_Finalized");
  if (running == 0)
    throw std::runtime_error(
        "MPI is not running: call MPI_Init first; if the program has, it uses another MPI than libhetsort");
  if (ended != 0) throw std::runtime_error("MPI has ended: MPI_Finalize was called");
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (is_main == 0 && level < MPI_THREAD_SERIALIZED)
    throw std::runtime_error(
        fmt::format("MPI gives {}: only the thread that started MPI may sort", name_of_level(level)));
}

/// When a rank aborts, MPICH's launcher ends without a look at what the ranks have just written to their pipes. This
/// waits until it has read the message, at most a second.
void wait_until_errors_are_read() {
  struct stat status {};
  if (::fstat(STDERR_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  int unread = 0;
  for (int i = 0; i < 1000 && ::ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class MpiTransport : public Transport {
 public:
  MpiTransport(ExchangeMode mode, const Patience& patience) {
    session_.emplace(mode, patience);
    const Deadline deadline = deadline_of("MPI_Comm_dup", patience);
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    duplicate(MPI_COMM_WORLD);
  }
  explicit MpiTransport(MPI_Comm communicator) {
    check_running_mpi();
    if (communicator == MPI_COMM_NULL) throw std::runtime_error("the communicator is MPI_COMM_NULL");
    int joins_groups = 0;
    check(MPI_Comm_test_inter(communicator, &joins_groups), "MPI_Comm_test_inter");
    if (joins_groups != 0)
      throw std::runtime_error("the communicator is an intercommunicator; MPI_Intercomm_merge makes one of one group");
    duplicate(communicator);
  }
  ~MpiTransport() override {
    // If MPI ends now, it frees its communicators itself.
    if (!session_ || !session_->is_ours()) MPI_Comm_free(&ranks_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host() const override { return host_; }
  int largest_tag() const override { return largest_tag_; }

  Request send(int to, int tag, std::span<const std::byte> data) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data.data(), narrow(data.size(), "MPI_Isend"), MPI_BYTE, to, tag, ranks_, &request), "MPI_Isend");
    return sends_.add(request);
  }
  Request receive(int from, int tag, std::span<std::byte> into) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(into.data(), narrow(into.size(), "MPI_Irecv"), MPI_BYTE, from, tag, ranks_, &request), "MPI_Irecv");
    return receives_.add(request);
  }
  void test_sends(std::vector<Completion>& completed) override { sends_.test(completed); }
  void test_receives(std::vector<Completion>& completed) override { receives_.test(completed); }
  void cancel(Request receive) override { receives_.cancel(receive); }
  void job_succeeded() override {
    if (session_) session_->job_succeeded();
  }
  [[noreturn]] void abort(int exit_code) override {
    run_abort_action();
    wait_until_errors_are_read();
    // With another communicator MPICH ends this rank only.
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  void duplicate(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &ranks_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(ranks_, &size_), "MPI_Comm_size");
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
    if (found != 0) largest_tag_ = *static_cast<int*>(value);
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
    host_.assign(name.data(), static_cast<std::size_t>(length));
    // It stands in messages and names of files.
    std::replace_if(
        host_.begin(), host_.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  }

  std::optional<Session> session_;  // none where the program has started MPI
  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  int largest_tag_ = 32767;
  std::string host_;
  Requests sends_{false};
  Requests receives_{true};
};

}  // namespace

MpiLibrary mpi_library() {
#ifdef OPEN_MPI
  return MpiLibrary::kOpenMpi;
#else
  return MpiLibrary::kMpich;
#endif
}

std::unique_ptr<Transport> make_mpi_transport(ExchangeMode mode, const CommunicatorOptions& options) {
  return std::make_unique<MpiTransport>(mode, Patience(options));
}

std::size_t mpi_handle_bytes() { return sizeof(MPI_Comm); }  // NOLINT(bugprone-sizeof-expression): of the handle

std::unique_ptr<Transport> make_mpi_transport_over(const void* handle) {
  MPI_Comm communicator = MPI_COMM_NULL;
  std::memcpy(&communicator, handle, mpi_handle_bytes());
  return std::make_unique<MpiTransport>(communicator);
}

}  // namespace hetsort::comm
