// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/recorder.h"

#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string_view>

namespace hetsort::research::trace {
namespace {

constexpr double kPollSeconds = 50e-6;        // beyond what programs do between two tests, below what they compute
constexpr std::size_t kMaxCalls = 1'000'000;  // 40 MB

thread_local int calls_inside = 0;

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::int64_t whole(const std::string& text, std::string_view name) {
  std::size_t used = 0;
  std::int64_t number = -1;
  try {
    number = std::stoll(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || number < 0)
    throw std::runtime_error(std::string(name) + "='" + text + "' is no number of at least 0");
  return number;
}

std::int64_t number_of(const char* name) {
  const std::string text = text_of(name);
  return text.empty() ? 0 : whole(text, name);
}

}  // namespace

TraceRequest request_from_environment() {
  constexpr const char* kEnding = "HETSORT_TRACE_ITERATION";
  TraceRequest request;
  request.prefix = text_of("HETSORT_TRACE");
  request.ending_call = text_of(kEnding);
  if (const auto colon = request.ending_call.find(':'); colon != std::string::npos) {
    request.ending_each = whole(request.ending_call.substr(colon + 1), kEnding);
    request.ending_call.resize(colon);
    if (request.ending_each == 0) throw std::runtime_error(std::string(kEnding) + ": each 0th call ends no iteration");
  }
  request.rows = number_of("HETSORT_TRACE_ROWS");
  request.shares = text_of("HETSORT_TRACE_SHARES");
  request.iterations = number_of("HETSORT_TRACE_ITERATIONS");
  request.min_tag = static_cast<int>(number_of("HETSORT_TRACE_MIN_TAG"));
  return request;
}

Recorder& Recorder::instance() {
  static Recorder recorder;
  return recorder;
}

void Recorder::begin() {
  request_ = request_from_environment();
  if (request_.prefix.empty()) return;
  caller_ = std::this_thread::get_id();
  left_ = processor_seconds();
  on_ = true;
}

std::vector<Call> Recorder::end() {
  on_ = false;
  const std::lock_guard lock(mutex_);
  if (is_caller()) count_computing();
  calls_.push_back({.kind = CallKind::kEnd, .computing = computing_});
  return std::move(calls_);
}

void Recorder::count_computing() {
  const double took = processor_seconds() - left_;
  if (!polling_ || took >= kPollSeconds) computing_ += took;
  polling_ = false;
}

void Recorder::enter() {
  const std::lock_guard lock(mutex_);
  if (is_caller())
    count_computing();
  else
    caller_ = std::this_thread::get_id();
}

void Recorder::leave(const char* name) {
  if (request_.ending_call == name && ++endings_ % request_.ending_each == 0) add({.kind = CallKind::kMark});
  const std::lock_guard lock(mutex_);
  left_ = processor_seconds();
}

void Recorder::message(CallKind kind, int partner, std::int64_t bytes, int tag) {
  if (tag >= request_.min_tag) add({.kind = kind, .partner = partner, .bytes = bytes});
}

void Recorder::collective(CallKind kind, int ranks, std::int64_t bytes) {
  add({.kind = kind, .partner = ranks, .bytes = bytes});
}

void Recorder::found_nothing() {
  const std::lock_guard lock(mutex_);
  polling_ = true;
}

void Recorder::add(Call call) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= kMaxCalls) {
    full_ = true;
    return;
  }
  if (!call.by_other_thread) call.computing = std::exchange(computing_, 0.0);
  calls_.push_back(call);
}

void Recorder::enter_file() {
  const std::lock_guard lock(mutex_);
  if (is_caller()) count_computing();
}

void Recorder::leave_file(CallKind kind, std::pair<std::uint64_t, std::uint64_t> file, std::int64_t bytes,
                          double seconds) {
  Call call{.kind = kind, .by_other_thread = !is_caller(), .bytes = bytes, .seconds = seconds};
  {
    const std::lock_guard lock(mutex_);
    call.partner = files_.try_emplace(file, static_cast<std::int32_t>(files_.size())).first->second;
  }
  add(call);
  const std::lock_guard lock(mutex_);
  if (is_caller()) left_ = processor_seconds();
}

InsideCall::InsideCall(const char* name) : name_(name), recorded_(calls_inside++ == 0 && Recorder::instance().is_on()) {
  if (recorded_) Recorder::instance().enter();
}

InsideCall::~InsideCall() {
  --calls_inside;
  if (recorded_ && Recorder::instance().is_on()) Recorder::instance().leave(name_);
}

bool InsideCall::any() { return calls_inside > 0; }

}  // namespace hetsort::research::trace
