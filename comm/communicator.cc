// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/communicator.h"

#include <algorithm>
#include <cstring>

#include "comm/bytes.h"
#include "comm/engine.h"

namespace hetsort::comm {

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

void Communicator::all_reduce_sum(std::span<std::uint64_t> values) {
  Bytes mine;
  append(mine, values.data(), values.size_bytes());
  const Bytes sums = all_reduce(std::move(mine), [](Bytes low, const Bytes& high) {
    for (std::size_t at = 0; at < std::min(low.size(), high.size()); at += sizeof(std::uint64_t)) {
      const auto sum = value_at<std::uint64_t>(low, at) + value_at<std::uint64_t>(high, at);
      std::memcpy(&low[at], &sum, sizeof(sum));
    }
    return low;
  });
  if (!values.empty()) std::memcpy(values.data(), sums.data(), values.size_bytes());
}

Bytes Communicator::all_reduce(Bytes mine, const Combine& combine) {
  ++engine_->collectives;
  Bytes whole = engine_->up(Engine::Mail::kCollective, std::move(mine), combine);
  return engine_->down(Engine::Mail::kCollective, std::move(whole));
}

std::vector<Bytes> Communicator::gather(Bytes mine) {
  ++engine_->collectives;
  return engine_->gather(std::move(mine));
}

Bytes Communicator::broadcast(Bytes bytes) {
  ++engine_->collectives;
  return engine_->down(Engine::Mail::kCollective, std::move(bytes));
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
void Communicator::fail(const std::string& message) { engine_->fail(message); }
void Communicator::settle() { engine_->settle(); }
std::string Communicator::conclude() { return engine_->conclude(); }

std::uint64_t Communicator::bytes_sent() const { return engine_->driver().out().bytes(); }
std::uint64_t Communicator::bytes_received() const { return engine_->driver().in().bytes(); }
double Communicator::cpu_seconds() const { return engine_->driver().cpu_seconds(); }

}  // namespace hetsort::comm
