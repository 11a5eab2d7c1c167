// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/engine/driver.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

#include "comm/base/deadline.h"

namespace hetsort::comm {

namespace {

/// Name of the threads that send and receive, as tools show it.
constexpr const char* kThreadName = "hetsort-comm";
/// Pause between polls with no message under way. A failure elsewhere is noticed with this delay, unless a ring
/// announces it.
constexpr std::chrono::milliseconds kIdlePause{50};
/// Minimum pause between polls while no thread of this rank waits for the messages under way.
constexpr std::chrono::microseconds kMinPauseUnawaited{500};
/// Pauses of a thread that nobody rings. A message is noticed late by at most 1/8 of the wait for it. Doubling the
/// pause would be too much: in a tree each rank waits for another that waits, delays add up, and consecutive reductions
/// end up at 2 ms a hop.
constexpr Backoff::Limits kUnrung{std::chrono::microseconds(20), std::chrono::milliseconds(2), 8};
/// Pauses while the ranks start, which takes seconds.
constexpr Backoff::Limits kStarting{std::chrono::microseconds(20), std::chrono::milliseconds(20), 8};
/// Pauses of a thread that is rung. A ring may be lost, or MPI may need a call to continue with a long message, as
/// those of users are.
constexpr Backoff::Limits kRung{std::chrono::milliseconds(10), std::chrono::milliseconds(20)};
constexpr Backoff::Limits kRungForUsers{std::chrono::milliseconds(2), std::chrono::milliseconds(20)};
/// Pauses after a ring whose message has not arrived yet.
constexpr Backoff::Limits kAnnounced{std::chrono::microseconds(20), std::chrono::milliseconds(20)};
/// The number of ranks that share a processor for which the pauses above are right.
constexpr int kRanksOfProcessor = 64;
/// With more ranks, the least that the limits of pauses grow to for each further one. Threads that poll in vain would
/// take most of the processor from those that have work.
constexpr Backoff::Limits kRungInCrowd{std::chrono::microseconds(100), std::chrono::milliseconds(1)};
constexpr Backoff::Limits kAnnouncedInCrowd{std::chrono::microseconds(20), std::chrono::milliseconds(1)};
/// While the ranks start, the least that the limits of pauses grow to for each of them.
constexpr Backoff::Limits kStartingInCrowd{std::chrono::microseconds(2), std::chrono::microseconds(200)};
/// Number of errors after which the job is aborted.
constexpr int kMaxErrors = 20;

double cpu_seconds_of(pthread_t thread) {
  clockid_t clock = 0;
  timespec used{};
  if (::pthread_getcpuclockid(thread, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// Makes sleeps of this thread exact while it lives: by default the kernel may end them 50 us late. Not used while MPI
/// starts and ends, which polls with sleeps of 100 us.
class ExactSleeps {
 public:
  ExactSleeps() { ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }
  ExactSleeps(const ExactSleeps&) = delete;
  ExactSleeps& operator=(const ExactSleeps&) = delete;
  ~ExactSleeps() { ::prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL); }
};

}  // namespace

Driver::Driver(ExchangeMode mode, double heartbeat_seconds, Hooks hooks, HostThread host_thread)
    : mode_(mode),
      heartbeat_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(heartbeat_seconds))),
      hooks_(std::move(hooks)),
      host_thread_(std::move(host_thread)) {}

void Driver::start(const MakeTransport& make) {
  event(Direction::kIn).open_bell();
  bell_ = event(Direction::kIn).bell();
  if (mode_ == ExchangeMode::kInline) {
    make_transport(make);
    owner_ = std::thread([this] { run_pulse(); });
    return;
  }
  const auto made = std::make_shared<std::promise<void>>();
  std::future<void> outcome = made->get_future();
  start_owner([&make, this, made] { own_transport(make, *made); });
  try {
    outcome.get();
  } catch (...) {
    join_owner();
    throw;
  }
}

void Driver::start_owner(std::function<void()> loop) {
  if (host_thread_)
    hosted_ = host_thread_(std::move(loop));
  else
    owner_ = std::thread(std::move(loop));
}

void Driver::join_owner() {
  if (owner_.joinable()) owner_.join();
  if (hosted_.valid()) hosted_.get();
}

void Driver::make_transport(const MakeTransport& make) {
  transport_ = make(mode_);
  place_ = {transport_->rank(), transport_->size(), transport_->largest_tag(), transport_->host(), Clock::now()};
}

void Driver::end_transport() {
  if (transport_ && succeeded_) transport_->job_succeeded();
  transport_.reset();
}

void Driver::own_transport(const MakeTransport& make, std::promise<void>& made) {
  try {
    make_transport(make);
  } catch (...) {
    transport_.reset();
    made.set_exception(std::current_exception());
    return;
  }
  const bool alone = mode_ == ExchangeMode::kThread;
  if (!alone) receiver_ = std::thread([this] { run(false, true); });
  made.set_value();
  run(true, alone);
  if (!alone) receiver_.join();
  end_transport();
}

void Driver::stop() {
  stopping_ = true;
  for (Event* each : {&driver_event_, &receiver_event_, &pulse_event_}) each->signal();
  join_owner();
  if (mode_ == ExchangeMode::kInline) end_transport();
}

bool Driver::submit(Direction direction, Message message) {
  if (!(direction == Direction::kOut ? out_ : in_).submit(std::move(message))) return false;
  event(direction).signal();
  return true;
}

void Driver::drop_receives() {
  in_.drop_users();
  event(Direction::kIn).signal();
}

void Driver::run(bool outward, bool inward) {
  if (!host_thread_) ::pthread_setname_np(::pthread_self(), kThreadName);
  const ExactSleeps exact;
  Backoff backoff;
  Event& mine = event(outward ? Direction::kOut : Direction::kIn);
  bool announced = false;  // whether a ring announced a message that has not arrived yet
  bool again = false;      // whether to poll again at once: Open MPI reports a message one test after it has noticed it
  while (!stopping_ && !dead_) {
    if (round(outward, inward)) {
      backoff.reset();
      announced = false;
    } else if (!std::exchange(again, false)) {
      again = mine.sleep(pause(backoff, inward, announced));
      if (again) backoff.reset();
      announced |= again;
    }
  }
}

void Driver::know_bells(std::vector<BellAddress> bells) {
  bells_ = std::move(bells);
  knows_bells_ = true;
  const auto near = std::ranges::count_if(bells_, [this](const BellAddress& bell) { return can_ring(bell); });
  ranks_a_processor_ = static_cast<int>(near / std::max(1U, std::thread::hardware_concurrency()));
  all_ring_ = std::ranges::all_of(bells_, [this](const BellAddress& bell) { return can_ring(bell); });
}

/// Rings the ranks on this host that a step gave something to do.
void Driver::ring(const MessageQueue& queue) {
  if (queue.concerned().empty() || !knows_bells_) return;
  std::vector<int> ranks = queue.concerned();
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const int rank : ranks) {
    const BellAddress& bell = bells_[static_cast<std::size_t>(rank)];
    if (rank != place_.rank && can_ring(bell)) event(Direction::kIn).ring(bell);
  }
}

void Driver::run_pulse() {
  while (!stopping_ && !dead_) {
    pulse_event_.sleep(std::min<Clock::duration>(heartbeat_ / 2, std::chrono::milliseconds(500)));
    progress();
  }
}

/// The pauses of a thread that is rung. `announced`: whether a message has been announced that has not arrived yet.
Backoff::Limits Driver::rung_pauses(bool announced) const {
  Backoff::Limits limits = announced ? kAnnounced : in_.users() > 0 ? kRungForUsers : kRung;
  const Backoff::Limits& more = announced ? kAnnouncedInCrowd : kRungInCrowd;
  const int ranks = std::max(0, ranks_a_processor_ - kRanksOfProcessor);
  limits.least = std::max(limits.least, ranks * more.least);
  limits.most = std::max(limits.most, ranks * more.most);
  return limits;
}

Backoff::Limits Driver::starting_pauses() const {
  Backoff::Limits limits = kStarting;
  limits.least = std::max(limits.least, place_.size * kStartingInCrowd.least);
  limits.most = std::max(limits.most, place_.size * kStartingInCrowd.most);
  return limits;
}

/// How long the driving thread may sleep. One that only sends may sleep longer: what it posts leaves at once, and any
/// thread that polls advances a long message.
Clock::duration Driver::pause(Backoff& backoff, bool inward, bool announced) const {
  const std::size_t sends = out_.users() + out_.own();
  const bool is_awaited = waiting_ > 0 && inward;
  if (inward && all_ring_ && sends == 0 && (announced || is_awaited || in_.users() > 0))
    return backoff.next(rung_pauses(announced));
  if (is_awaited) return backoff.next(knows_bells_ ? kUnrung : starting_pauses());
  if (sends + in_.users() > 0) return std::max<Clock::duration>(backoff.next(kUnrung), kMinPauseUnawaited);
  backoff.reset();
  const Clock::duration idle = all_ring_ ? std::max<Clock::duration>(kIdlePause, rung_pauses(false).most) : kIdlePause;
  return in_.own() > 0 ? std::min(idle, heartbeat_ / 2) : std::chrono::seconds(1);
}

bool Driver::round(bool outward, bool inward) {
  try {
    bool any = false;
    if (outward) {
      hooks_.pulse();
      if (abort_code_ >= 0) transport_->abort(abort_code_);
      any = out_.step(*transport_);
      ring(out_);
    }
    if (inward) {
      any |= in_.step(*transport_);
      ring(in_);
    }
    // The callback of a message wakes the thread that waits for it. At the end, a thread waits until no message is
    // left.
    if (any && waiting_ > 0 && (!knows_bells_ || ending_)) notify();
    return any;
  } catch (const TransportAborted&) {
    die();
  } catch (const std::exception& error) {
    failed_round(error.what());
  }
  return false;
}

void Driver::failed_round(const std::string& error) {
  hooks_.broken(error);
  if (++errors_ != kMaxErrors) return;
  fmt::print(stderr, "hetsort: rank {} ({}): {}\n", place_.rank, place_.host, error);
  abort(kErrorExit);
}

void Driver::die() {
  dead_ = true;
  hooks_.died();
  notify();
  for (Event* each : {&driver_event_, &receiver_event_}) each->signal();
}

bool Driver::progress() {
  if (mode_ != ExchangeMode::kInline || dead_) return false;
  const std::unique_lock lock(drive_mutex_, std::try_to_lock);
  return lock.owns_lock() && round(true, true);
}

bool Driver::wait(const std::function<bool()>& ready, Clock::time_point until) {
  struct Waiting {
    std::atomic<int>& count;
    explicit Waiting(std::atomic<int>& c) : count(c) { ++count; }
    ~Waiting() { --count; }
  } const waiting(waiting_);
  if (mode_ != ExchangeMode::kInline) {
    std::unique_lock lock(wait_mutex_);
    if (ready()) return true;
    if (!all_ring_) event(Direction::kIn).signal();
    return changed_.wait_until(lock, until, ready);
  }
  for (Backoff backoff;;) {
    {
      const std::lock_guard lock(wait_mutex_);
      if (ready()) return true;
    }
    if (progress()) {
      backoff.reset();
    } else {
      if (Clock::now() >= until) return false;
      driver_event_.sleep(backoff.next(kUnrung));
    }
  }
}

void Driver::notify() {
  { const std::lock_guard lock(wait_mutex_); }
  changed_.notify_all();
  if (mode_ == ExchangeMode::kInline) driver_event_.signal();
}

void Driver::abort(int exit_code) {
  abort_code_ = exit_code;
  driver_event_.signal();
}

double Driver::cpu_seconds() const {
  if (mode_ == ExchangeMode::kInline || !owner_.joinable()) return 0;
  return cpu_seconds_of(const_cast<std::thread&>(owner_).native_handle()) +
         (mode_ == ExchangeMode::kThreads ? cpu_seconds_of(const_cast<std::thread&>(receiver_).native_handle()) : 0);
}

}  // namespace hetsort::comm
