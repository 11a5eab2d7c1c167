// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.h"

#include <algorithm>
#include <functional>

#include "comm/base/packing.h"
#include "comm/engine/engine.h"

namespace hetsort::comm {

namespace {

Bytes bytes_of(const std::string& text) {
  Packer packer;
  packer.raw(text.data(), text.size());
  return packer.take();
}

std::string text_of(const Bytes& bytes) { return Unpacker(bytes).rest(); }

}  // namespace

Communicator::Communicator(const MakeTransport& make, const CommunicatorOptions& options)
    : engine_(std::make_unique<Engine>(make, options)) {}
Communicator::Communicator() : engine_(std::make_unique<Engine>()) {}
Communicator::~Communicator() = default;

int Communicator::rank() const { return engine_->rank(); }
int Communicator::size() const { return engine_->size(); }
bool Communicator::launched() const { return engine_->is_open(); }
ExchangeMode Communicator::mode() const { return engine_->options().mode; }
const std::string& Communicator::host(int rank) const { return engine_->hosts().at(static_cast<std::size_t>(rank)); }
int Communicator::ranks_on_host() const {
  return static_cast<int>(std::count(engine_->hosts().begin(), engine_->hosts().end(), host()));
}
Communicator::Clock::time_point Communicator::job_start() const { return engine_->job_start(); }

namespace {

template <class Combine>
void all_reduce_values(Communicator& ranks, std::span<std::uint64_t> values, const Combine& combine) {
  const auto read = [&](const Bytes& bytes) {
    Unpacker unpacker(bytes);
    std::vector<std::uint64_t> numbers(values.size());
    unpacker.raw(numbers.data(), values.size_bytes());
    unpacker.end();
    return numbers;
  };
  const auto written = [](std::span<const std::uint64_t> numbers) {
    Packer packer;
    packer.raw(numbers.data(), numbers.size_bytes());
    return packer.take();
  };
  const Bytes whole = ranks.all_reduce(written(values), [&](const Bytes& low, const Bytes& high) {
    std::vector<std::uint64_t> combined = read(low);
    const std::vector<std::uint64_t> other = read(high);
    std::transform(combined.begin(), combined.end(), other.begin(), combined.begin(), combine);
    return written(combined);
  });
  std::ranges::copy(read(whole), values.begin());
}

}  // namespace

void Communicator::barrier() {
  all_reduce({}, [](const Bytes& low, const Bytes&) { return low; });
}

void Communicator::all_reduce_sum(std::span<std::uint64_t> values) { all_reduce_values(*this, values, std::plus<>()); }

std::uint64_t Communicator::all_reduce_sum(std::uint64_t value) {
  all_reduce_sum({&value, 1});
  return value;
}

std::uint64_t Communicator::all_reduce_max(std::uint64_t value) {
  all_reduce_values(*this, {&value, 1}, [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  return value;
}

Bytes Communicator::all_gather_bytes(Bytes mine) {
  return all_reduce(std::move(mine), [](Bytes low, const Bytes& high) {
    low.insert(low.end(), high.begin(), high.end());
    return low;
  });
}

namespace {

/// Counts a collective and reports the time that it took.
class Collective {
 public:
  explicit Collective(Engine& engine) : engine_(engine), begin_(Clock::now()) { ++engine.collectives; }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  ~Collective() {
    if (engine_.on_collective) engine_.on_collective(begin_, Clock::now());
  }

 private:
  Engine& engine_;
  Clock::time_point begin_;
};

}  // namespace

Bytes Communicator::all_reduce(Bytes mine, const Combine& combine) {
  const Collective collective(*engine_);
  Bytes whole = engine_->up(Engine::TreeMessage::kCollective, std::move(mine), combine);
  return engine_->down(Engine::TreeMessage::kCollective, std::move(whole));
}

Bytes Communicator::reduce(Bytes mine, const Combine& combine) {
  const Collective collective(*engine_);
  return engine_->up(Engine::TreeMessage::kCollective, std::move(mine), combine);
}

std::vector<Bytes> Communicator::gather(const Bytes& mine) {
  const Collective collective(*engine_);
  return engine_->gather(mine);
}

Bytes Communicator::broadcast(Bytes bytes) {
  const Collective collective(*engine_);
  return engine_->down(Engine::TreeMessage::kCollective, std::move(bytes));
}

std::vector<std::string> Communicator::gather_text(const std::string& mine) {
  std::vector<std::string> texts;
  for (const Bytes& bytes : gather(bytes_of(mine))) texts.push_back(text_of(bytes));
  return texts;
}

std::string Communicator::broadcast_text(const std::string& text) { return text_of(broadcast(bytes_of(text))); }

void Communicator::on_collective(std::function<void(Clock::time_point begin, Clock::time_point end)> took) {
  engine_->on_collective = std::move(took);
}

std::uint64_t Communicator::collectives() const { return engine_->collectives; }

int Communicator::take_tags(int count) { return engine_->take_tags(count); }
void Communicator::send(int to, int tag, std::span<const std::byte> data, SendDone done) {
  engine_->send(to, tag, data, std::move(done));
}
void Communicator::receive(int from, int tag, std::span<std::byte> into, ReceiveDone done) {
  engine_->receive(from, tag, into, std::move(done));
}
bool Communicator::progress() { return engine_->progress(); }
void Communicator::on_failure(std::function<void()> wake) { engine_->failure().on_failure(std::move(wake)); }
void Communicator::check() const { engine_->check(); }
bool Communicator::failed() const { return engine_->failure().any(); }

void Communicator::set_phase(const std::string& phase) { engine_->set_phase(phase); }
void Communicator::count_work(std::shared_ptr<const std::atomic<std::uint64_t>> work) {
  engine_->count_work(std::move(work));
}
std::uint64_t Communicator::work_of_others() const { return engine_->work_of_others(); }
void Communicator::fail(const std::string& message, const FailurePlace& place) { engine_->fail(message, place); }
void Communicator::drain() { engine_->drain(); }
std::string Communicator::conclude() { return engine_->conclude(); }
FailureRecord Communicator::failure() const { return engine_->agreed_failure(); }

std::uint64_t Communicator::bytes_sent() const { return engine_->driver().out().bytes() + shared_sent_; }
std::uint64_t Communicator::bytes_received() const { return engine_->driver().in().bytes() + shared_received_; }
double Communicator::cpu_seconds() const { return engine_->driver().cpu_seconds(); }

}  // namespace hetsort::comm
