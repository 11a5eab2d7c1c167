// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/call.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/options/options.h"
#include "comm/base/abort_action.h"
#include "comm/launcher.h"
#include "io/part_name.h"
#include "lib/wording.h"
#include "sort/failure/report_failure.h"

namespace hetsort::lib {

namespace {

constexpr std::chrono::milliseconds kReportEvery{200};

/// Lets another thread run loops on the thread that serves.
class ServingThread {
 public:
  comm::HostThread host() {
    return [this](std::function<void()> loop) {
      std::packaged_task<void()> task(std::move(loop));
      std::future<void> done = task.get_future();
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      changed_.notify_one();
      return done;
    };
  }
  /// Runs what comes until close().
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool closed_ = false;
};

ErrorKind kind_of(comm::FailureKind kind) { return static_cast<ErrorKind>(kind); }
static_assert(static_cast<int>(ErrorKind::kCancelled) == static_cast<int>(comm::FailureKind::kCancelled));

Error error_of(const cli::Outcome& outcome, const comm::Communicator& ranks) {
  const comm::FailureRecord failure = ranks.failure();
  // If no rank failed, the ranks do not fit together, which all of them found.
  const std::string message = without_dashes(outcome.failure, failure.place.path);
  if (!failure.any()) return {message, {.kind = ErrorKind::kRequest, .reason = message}};
  const comm::FailurePlace& place = failure.place;
  return {message,
          {kind_of(place.kind), failure.rank, place.operation, place.path,
           without_dashes(reason_in(failure.text, place.operation, place.path))}};
}

/// Runs the body on these ranks. Requires: all exceptions that leave `body` are of std::exception.
void run_on(comm::Communicator& ranks, Call& call, const std::function<void(comm::Communicator&)>& body) {
  // Waiting ranks notice failures, but no requests to stop. Therefore on_stop reports a request as a failure.
  const std::shared_ptr<void> end_of_stops(nullptr, [&](void*) { call.on_stop.reset(); });
  call.on_stop.emplace(call.control.stop, [&] { sort::report_failure(ranks, sort::Cancelled()); });
  const auto reported = [&] {
    try {
      body(ranks);
    } catch (const comm::PeerFailed&) {
      throw;
    } catch (const comm::JobMismatch&) {
      throw;
    } catch (const cli::UsageError& error) {
      ranks.fail(error.what(), {comm::FailureKind::kRequest});
      throw;
    } catch (const std::exception& error) {
      sort::report_failure(ranks, error);
      throw;
    }
    return 0;
  };
  const cli::Outcome outcome = cli::run_job(ranks, call.shared, reported, call.mistake);
  if (!outcome.failure.empty()) throw error_of(outcome, ranks);
}

void run_on_mpi(Call& call, const std::function<void(comm::Communicator&)>& body) {
  comm::set_abort_action(io::remove_unpublished_files);
  ServingThread serving;
  comm::CommunicatorOptions options = call.communication;
  options.mode = comm::ExchangeMode::kThread;
  options.host_thread = serving.host();
  std::exception_ptr failure;
  std::thread work([&] {
    try {
      const auto ranks =
          comm::adopt_communicator({call.ranks.handle(), call.ranks.handle_bytes(), call.ranks.mpi()}, options);
      run_on(*ranks, call, body);
    } catch (...) {
      failure = std::current_exception();
    }
    serving.close();
  });
  serving.serve();
  work.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void check_header_version(int header_version) {
  if (header_version <= HETSORT_VERSION) return;
  const auto text = [](int version) {
    return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  };
  throw_request_error(fmt::format("libhetsort is version {}, older than the headers of the program, version {}",
                                  text(HETSORT_VERSION), text(header_version)));
}

std::string reason_in(const std::string& message, const std::string& operation, const std::string& path) {
  const std::string before = fmt::format("{} {}: ", operation, path);
  return message.starts_with(before) ? message.substr(before.size()) : message;
}

void throw_request_error(const std::string& message) {
  const std::string text = without_dashes(message);
  throw Error(text, {.kind = ErrorKind::kRequest, .reason = text});
}

void run_call(Call& call, const std::function<void(comm::Communicator&)>& body) {
  try {
    if (!call.ranks.alone()) return run_on_mpi(call, body);
    comm::Communicator alone;
    run_on(alone, call, body);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // the ranks could not come together
    throw_request_error(error.what());
  }
}

Watching::Watching(sort::Monitor& monitor, Call& call) : monitor_(monitor), control_(call.control) {
  monitor.stop_on(control_.stop, [&call] { call.on_stop.reset(); });
  if (!control_.progress) return;
  const auto watch = [this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, end, kReportEvery, [&] { return end.stop_requested(); })) report();
  };
  try {
    thread_ = std::jthread(watch);
  } catch (const std::system_error&) {
    // The system allows no further thread: the call goes on without reports.
  }
}

Watching::~Watching() {
  if (!thread_.joinable()) return;
  thread_ = {};
  report();
}

void Watching::report() {
  const sort::Monitor::Progress now = monitor_.progress();
  control_.progress({now.phase, now.done_bytes, now.total_bytes});
}

}  // namespace hetsort::lib
