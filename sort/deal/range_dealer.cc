// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/deal/range_dealer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "io/checksum/checksum.h"
#include "io/error.h"

namespace hetsort::sort {

namespace {

/// Makes the last number the checksum of the others.
template <typename Numbers>
Numbers sealed(Numbers numbers) {
  numbers.back() = io::crc32c(std::as_bytes(std::span(numbers).first(numbers.size() - 1)));
  return numbers;
}

/// Sends numbers, of which a copy lives until they are sent.
template <typename Numbers>
void send_copy(comm::Communicator& ranks, int to, int tag, const Numbers& numbers) {
  const auto kept = std::make_shared<const Numbers>(numbers);
  ranks.send(to, tag, std::as_bytes(std::span(*kept)), [kept] {});
}

}  // namespace

RangeDealer::RangeDealer(comm::Communicator& ranks, int first_tag, std::vector<std::uint64_t> threads)
    : ranks_(ranks),
      first_tag_(first_tag),
      most_threads_(std::ranges::max(threads)),
      threads_(std::move(threads)),
      waiting_(ranks),
      asking_(threads_[static_cast<std::size_t>(ranks.rank())]) {}

int RangeDealer::tags(const std::vector<std::uint64_t>& threads) {
  return static_cast<int>(2 * std::ranges::max(threads));
}

std::chrono::duration<double> RangeDealer::pause_between_reports() const {
  constexpr std::chrono::duration<double> kLeast{0.05};
  constexpr std::chrono::duration<double> kOfThread{50e-6};
  const auto threads = static_cast<double>(std::accumulate(threads_.begin(), threads_.end(), std::uint64_t{0}));
  return std::max(kLeast, threads * kOfThread);
}

void RangeDealer::serve(DealTable table) {
  table_.emplace(std::move(table));
  open_ = std::accumulate(threads_.begin(), threads_.end(), std::uint64_t{0});
  for (const std::uint64_t threads : threads_) requests_.emplace_back(threads);
  for (std::size_t rank = 1; rank < threads_.size(); ++rank)
    for (std::size_t thread = 0; thread < threads_[rank]; ++thread) post(rank, thread);
}

void RangeDealer::post(std::size_t rank, std::size_t thread) {
  ranks_.receive(static_cast<int>(rank), request_tag(thread),
                 std::as_writable_bytes(std::span(requests_[rank][thread])),
                 [this, rank, thread](std::size_t) { answer(rank, thread); });
}

RangeAnswer RangeDealer::decide(std::size_t rank, std::size_t thread, RangeRequest request) {
  const std::lock_guard lock(waiting_.mutex());
  request.seconds = since_begin_.seconds();
  const RangeAnswer given = table_->next(rank, thread, request);
  if (given.kind == RangeAnswer::Kind::kNone) --open_;
  waiting_.notify();
  return given;
}

/// Called on the thread that communicates.
void RangeDealer::answer(std::size_t rank, std::size_t thread) {
  const Request request = requests_[rank][thread];
  if (request != sealed(request)) return ranks_.fail(corrupt("a request for a range", rank));
  comm::Communicator& ranks = ranks_;
  const int tag = answer_tag(thread);
  const RangeAnswer given = decide(rank, thread,
                                   {.merged = request[0],
                                    .busy_seconds = std::bit_cast<double>(request[1]),
                                    .wants_range = request[2] != 0,
                                    .copying = {request[3], std::bit_cast<double>(request[4])},
                                    .waited_for = request[5],
                                    .waited_seconds = std::bit_cast<double>(request[6])});
  // If nothing is left, finish() may return now, and this object end.
  if (given.kind != RangeAnswer::Kind::kNone) post(rank, thread);
  send_copy(ranks, static_cast<int>(rank), tag,
            sealed(Answer{static_cast<std::uint64_t>(given.kind), given.number, 0}));
}

void RangeDealer::ask(std::size_t thread, const RangeRequest& request) {
  const auto me = static_cast<std::size_t>(ranks_.rank());
  if (table_) {
    const RangeAnswer given = decide(me, thread, request);
    asking_[thread] = {true, sealed(Answer{static_cast<std::uint64_t>(given.kind), given.number, 0})};
    return;
  }
  Asking& asking = asking_[thread];
  asking.arrived = false;
  ranks_.receive(0, answer_tag(thread), std::as_writable_bytes(std::span(asking.answer)), [this, thread](std::size_t) {
    const std::lock_guard lock(waiting_.mutex());
    asking_[thread].arrived = true;
    waiting_.notify();
  });
  send_copy(ranks_, 0, request_tag(thread),
            sealed(Request{request.merged, std::bit_cast<std::uint64_t>(request.busy_seconds),
                           std::uint64_t{request.wants_range}, request.copying.room,
                           std::bit_cast<std::uint64_t>(request.copying.record_seconds), request.waited_for,
                           std::bit_cast<std::uint64_t>(request.waited_seconds), 0}));
}

std::optional<RangeAnswer> RangeDealer::take(std::size_t thread) {
  const std::lock_guard lock(waiting_.mutex());
  Asking& asking = asking_[thread];
  if (!asking.arrived) return {};
  asking.arrived = false;
  const Answer& answer = asking.answer;
  if (answer != sealed(answer) || answer[0] > static_cast<std::uint64_t>(RangeAnswer::Kind::kNone))
    throw std::runtime_error(corrupt("an answer to a request for a range", 0));
  return RangeAnswer{static_cast<RangeAnswer::Kind>(answer[0]), answer[1]};
}

RangeAnswer RangeDealer::await(std::size_t thread) {
  waiting_.wait_until([&] { return asking_[thread].arrived; }, {});
  return *take(thread);
}

void RangeDealer::finish() {
  waiting_.wait_until([this] { return open_ == 0; }, {});
}

std::string RangeDealer::corrupt(const char* what, std::size_t from) const {
  const int rank = static_cast<int>(from);
  return io::Error("receive", fmt::format("{} from rank {} ({})", what, rank, ranks_.host(rank)),
                   "corrupt message: its checksum is wrong: network or memory changed it")
      .what();
}

}  // namespace hetsort::sort
