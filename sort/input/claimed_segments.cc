// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/claimed_segments.h"

#include <fmt/format.h>

#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "io/checksum/checksum.h"
#include "io/error.h"
#include "io/stopwatch.h"
#include "sort/failure/proof_error.h"
#include "sort/failure/report_failure.h"

namespace hetsort::sort {

namespace {

constexpr int kTags = 2;  // requests, answers

/// Returns the numbers with a checksum behind them.
template <std::size_t kCount>
std::array<std::uint64_t, kCount + 1> seal(const std::array<std::uint64_t, kCount>& numbers) {
  std::array<std::uint64_t, kCount + 1> sealed{};
  std::copy(numbers.begin(), numbers.end(), sealed.begin());
  sealed.back() = io::crc32c(std::as_bytes(std::span(numbers)));
  return sealed;
}

template <std::size_t kCount>
bool is_intact(const std::array<std::uint64_t, kCount>& sealed) {
  return sealed.back() == io::crc32c(std::as_bytes(std::span(sealed).first(kCount - 1)));
}

std::string corrupt(const char* what, const comm::Communicator& ranks, int from) {
  return io::Error("receive", fmt::format("{} from rank {} ({})", what, from, ranks.host(from)),
                   "corrupt message: its checksum is wrong: network or memory changed it")
      .what();
}

/// Sends numbers, of which a copy lives until they are sent.
template <std::size_t kCount>
void send_numbers(comm::Communicator& ranks, int to, int tag, const std::array<std::uint64_t, kCount>& numbers) {
  const auto kept = std::make_shared<const std::array<std::uint64_t, kCount>>(numbers);
  ranks.send(to, tag, std::as_bytes(std::span(*kept)), [kept] {});
}

}  // namespace

/// What rank 0 has: the table, and a receive posted for each rank that may still ask.
class ClaimedSegments::Server {
 public:
  Server(comm::Communicator& ranks, int tag, ClaimTable table)
      : ranks_(ranks), tag_(tag), table_(std::move(table)), requests_(static_cast<std::size_t>(ranks.size())) {}

  void post() {
    for (int rank = 1; rank < ranks_.size(); ++rank) post(rank);
  }

  /// Makes the claim in the table. Thread safety: any thread.
  Claim claim(int rank, const ClaimRequest& request) {
    const std::lock_guard lock(mutex_);
    return table_.next(static_cast<std::size_t>(rank), request, since_begin_.seconds());
  }

 private:
  void post(int rank) {
    Request& request = requests_[static_cast<std::size_t>(rank)];
    ranks_.receive(rank, tag_, std::as_writable_bytes(std::span(request)), [this, rank](std::size_t) { answer(rank); });
  }

  /// Called on the thread that communicates. A rank that got its last answer may go on and end all this.
  void answer(int rank) {
    const Request request = requests_[static_cast<std::size_t>(rank)];
    if (!is_intact(request)) return ranks_.fail(corrupt("a claim", ranks_, rank));
    const Claim given = claim(rank, {request[0], request[1], std::bit_cast<double>(request[2])});
    const int tag = tag_ + 1;
    comm::Communicator& ranks = ranks_;
    if (given.records > 0) post(rank);
    send_numbers(ranks, rank, tag,
                 seal(std::array<std::uint64_t, 4>{given.first, given.records, given.slice_end, given.fresh}));
  }

  comm::Communicator& ranks_;
  int tag_;
  std::mutex mutex_;  // guards the table
  ClaimTable table_;
  std::vector<Request> requests_;
  io::Stopwatch since_begin_;
};

ClaimedSegments::ClaimedSegments(const Input& input, comm::Communicator& ranks)
    : input_(input), ranks_(ranks), waiting_(ranks) {}

ClaimedSegments::~ClaimedSegments() {
  if (!started_) return;
  ranks_.on_failure({});
  drain_after_failure(ranks_);
}

void ClaimedSegments::start(std::uint64_t capacity_records, const Plan& plan) {
  tag_ = ranks_.take_tags(kTags);
  const std::vector<std::uint64_t> capacities = ranks_.all_gather(capacity_records);
  started_ = true;
  if (ranks_.rank() == 0) {
    const ClaimRules rules{input_.smallest_bytes / input_.record_bytes, most_slices_};
    const ClaimPlan planned = plan(capacities);
    server_ = std::make_unique<Server>(ranks_, tag_, ClaimTable(planned.slices, planned.most, rules));
    server_->post();
  }
  ranks_.on_failure([this] { waiting_.wake(); });
  // No rank asks before rank 0 has posted its receives.
  ranks_.barrier();
}

/// Sends the request. Rank 0 sends none: it has the table.
void ClaimedSegments::ask(const ClaimRequest& request) {
  asked_ = true;
  if (server_) return;
  answered_ = false;
  ranks_.receive(0, tag_ + 1, std::as_writable_bytes(std::span(answer_)), [this](std::size_t) {
    const std::lock_guard lock(waiting_.mutex());
    answered_ = true;
    waiting_.notify();
  });
  const auto late = std::bit_cast<std::uint64_t>(late_seconds_);
  send_numbers(ranks_, 0, tag_, seal(std::array<std::uint64_t, 3>{request.wanted, request.done, late}));
}

/// The answer to the request that was sent before, if there is one, else to `request`.
Claim ClaimedSegments::answer(const ClaimRequest& request) {
  ranks_.check();
  if (!asked_) ask(request);
  asked_ = false;
  Claim given;
  if (server_) {
    given = server_->claim(0, request);
  } else {
    const io::Stopwatch since_needed;
    waiting_.wait_until([this] { return answered_; }, {});
    late_seconds_ = since_needed.seconds();
    if (!is_intact(answer_)) throw std::runtime_error(corrupt("an answer to a claim", ranks_, 0));
    given = {answer_[0], answer_[1], answer_[2], answer_[3]};
    if (given.records > 0 && (given.first > given.slice_end || given.records > given.slice_end - given.first ||
                              given.slice_end > input_.records))
      throw std::runtime_error(corrupt("an answer to a claim", ranks_, 0));
  }
  if (input_.on_claim) input_.on_claim(given);
  return given;
}

std::optional<InputSegment> ClaimedSegments::next() {
  done_ += last_.records;
  dealt_ = 0;
  last_ = {};
  if (!pending_ && !ended_) pending_ = answer({0, done_});
  ended_ = ended_ || pending_->records == 0;
  if (!pending_ || pending_->records == 0) return std::nullopt;
  last_ = *std::exchange(pending_, std::nullopt);
  newest_ = 0;
  const std::uint64_t bytes = (last_.slice_end - last_.first) * input_.record_bytes;
  return InputSegment{last_.first * input_.record_bytes, bytes, last_.first};
}

std::uint64_t ClaimedSegments::claim(std::uint64_t wanted_bytes) {
  const std::uint64_t wanted = (wanted_bytes + input_.record_bytes - 1) / input_.record_bytes;
  const std::uint64_t done = done_ + std::min(dealt_, last_.records);
  while (last_.records < wanted && !pending_ && !ended_) {
    const Claim more = answer({wanted - last_.records, done});
    ended_ = more.records == 0;
    if (more.fresh != 0) pending_ = more;
    if (more.fresh == 0) last_.records += more.records;
    if (more.fresh == 0) newest_ = last_.records - more.records;
  }
  if (wanted > newest_ && !asked_ && !pending_ && !ended_ && !server_) ask({0, done});
  dealt_ = wanted;
  return last_.records * input_.record_bytes;
}

void ClaimedSegments::check_complete(std::span<const std::uint64_t> read_records) const {
  const std::uint64_t read = std::accumulate(read_records.begin(), read_records.end(), std::uint64_t{0});
  if (read != input_.records)
    throw ProofError(fmt::format("the ranks have claimed {} of {} records", read, input_.records));
}

}  // namespace hetsort::sort
