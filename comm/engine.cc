// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/engine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <limits>
#include <utility>

#include "comm/bytes.h"

namespace hetsort::comm {

namespace {

constexpr int kSignalTag = 0;
constexpr int kMailTag = 2;
constexpr std::chrono::hours kLong{1};

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

}  // namespace

Communicator::Engine::Engine() : hosts_{own_host()}, job_start_(Clock::now()), driver_(ExchangeMode::kInline, 1, {}) {
  heartbeat_ = std::make_unique<Heartbeat>(0, 1, options_);
}

Communicator::Engine::Engine(const MakeTransport& make, const CommunicatorOptions& options)
    : options_(options),
      driver_(options.mode, options.heartbeat_seconds,
              {[this] { pulse(); }, [this](const std::string& error) { fail(error); },
               [this] {
                 learn({job_nanoseconds(), rank(), "the job was aborted"});
               }}) {
  driver_.start(make);
  open();
  measure_clock();
  gather_hosts();
}

Communicator::Engine::~Engine() {
  if (!open_) return;
  if (!outcome_ && !driver_.dead()) {
    try {
      fail("ended without saying why");
      conclude();
    } catch (const std::exception&) {
      // The job was aborted meanwhile.
    }
  }
  driver_.stop();
}

void Communicator::Engine::open() {
  job_start_ = driver_.place().began;
  heartbeat_ = std::make_unique<Heartbeat>(rank(), size(), options_);
  hosts_.resize(static_cast<std::size_t>(size()));
  hosts_[static_cast<std::size_t>(rank())] = driver_.place().host;
  for (Letters& each : letters_) each.resize(static_cast<std::size_t>(size()));
  const auto submit = [this](Lane::Way way, Message message) { driver_.submit(way, std::move(message)); };
  signals_ = std::make_unique<Channel>(kSignalTag, false, submit,
                                       [this](int from, const Bytes& bytes) { on_signal(from, bytes); });
  mail_ =
      std::make_unique<Channel>(kMailTag, true, submit, [this](int from, const Bytes& bytes) { on_mail(from, bytes); });
  std::vector<int> star{0};
  std::vector<int> tree = children();
  if (rank() == 0) {
    star.clear();
    for (int other = 1; other < size(); ++other) star.push_back(other);
  } else {
    tree.push_back(parent());
  }
  signals_->open(star);
  mail_->open(tree);
  open_ = true;
}

void Communicator::Engine::gather_hosts() {
  // Each name with its final zero.
  Bytes mine;
  append(mine, driver_.place().host.c_str(), driver_.place().host.size() + 1);
  const Bytes names = down(Mail::kJob, up(Mail::kJob, std::move(mine), concatenated));
  std::string_view text = text_from(names, 0);
  for (std::string& host : hosts_) {
    host = text.substr(0, text.find('\0'));
    text.remove_prefix(host.size() + 1);
  }
}

int Communicator::Engine::take_tags(int count) {
  const int largest = size() == 1 && !open_ ? std::numeric_limits<int>::max() : driver_.place().largest_tag;
  if (count > largest - next_tag_) throw std::length_error("messages: the transport has no more tags");
  return std::exchange(next_tag_, next_tag_ + count);
}

void Communicator::Engine::send(int to, int tag, std::span<const std::byte> data, SendDone done) {
  assert(open_ && to >= 0 && to < size() && tag >= kFirstUserTag);
  // It is only read.
  auto* bytes = const_cast<std::byte*>(data.data());
  driver_.submit(Lane::Way::kOut,
                 {to, tag, bytes, data.size(), [done = std::move(done)](std::size_t) { done(); }, false, true});
}

void Communicator::Engine::receive(int from, int tag, std::span<std::byte> into, ReceiveDone done) {
  assert(open_ && from >= 0 && from < size() && tag >= kFirstUserTag);
  driver_.submit(Lane::Way::kIn, {from, tag, into.data(), into.size(), std::move(done), false, true});
}

void Communicator::Engine::check() {
  if (failure_.any()) throw PeerFailed(failure_text(failure_.first()));
}

std::string Communicator::Engine::failure_text(const FailureRecord& record) const {
  if (size() == 1) return record.text;
  return fmt::format("rank {} ({}): {}", record.rank, hosts_[static_cast<std::size_t>(record.rank)], record.text);
}

void Communicator::Engine::await(const std::function<bool()>& ready) {
  bool there = false;
  const auto look = [&] {
    there = ready();
    return there || failure_.any();
  };
  while (!driver_.wait(look, Clock::now() + kLong)) {
  }
  if (!there) check();
}

std::int64_t Communicator::Engine::job_nanoseconds() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - job_start_).count();
}

}  // namespace hetsort::comm
