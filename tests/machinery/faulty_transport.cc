// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/machinery/faulty_transport.h"

#include <fmt/format.h>

#include <exception>
#include <random>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace hetsort::machinery {

namespace {

class FaultyTransport : public comm::Transport {
 public:
  FaultyTransport(std::unique_ptr<comm::Transport> inner, const MessageFault& fault)
      : inner_(std::move(inner)), fault_(fault) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::string host() const override { return inner_->host(); }
  int largest_tag() const override { return inner_->largest_tag(); }
  comm::Request send(int to, int tag, std::span<const std::byte> data) override { return inner_->send(to, tag, data); }
  comm::Request receive(int from, int tag, std::span<std::byte> into) override {
    const comm::Request request = inner_->receive(from, tag, into);
    if (fault_.number != 0 && rank() == fault_.rank && tag < comm::kFirstUserTag)
      control_[request] = {request, from, tag, into};
    return request;
  }
  void test_sends(std::vector<comm::Completion>& completed) override { inner_->test_sends(completed); }
  void test_receives(std::vector<comm::Completion>& completed) override {
    arrived_.clear();
    inner_->test_receives(arrived_);
    for (const comm::Completion& completion : arrived_) arrive(completion, completed);
  }
  void cancel(comm::Request receive) override { inner_->cancel(receive); }
  void job_succeeded() override { inner_->job_succeeded(); }
  [[noreturn]] void abort(int exit_code) override {
    inner_->abort(exit_code);
    std::terminate();  // the compiler does not see that abort() never returns
  }

 private:
  struct Control {
    comm::Request number = 0;  ///< number of the request as the caller knows it
    int from = 0;
    int tag = 0;
    std::span<std::byte> into;
  };

  void arrive(comm::Completion completion, std::vector<comm::Completion>& completed) {
    if (auto node = control_.extract(completion.request); !node.empty()) {
      const Control& message = node.mapped();
      completion.request = message.number;
      if (++received_ == fault_.number) {
        if (fault_.kind == MessageFault::Kind::kLose) {
          // The next message takes the place of the lost one.
          const comm::Request again = inner_->receive(message.from, message.tag, message.into);
          control_[again] = message;
          return;
        }
        flip(message.into.first(completion.bytes));
      }
    }
    completed.push_back(completion);
  }

  void flip(std::span<std::byte> bytes) const {
    if (bytes.empty()) return;
    std::mt19937_64 random(fault_.seed);
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << (random() % 8));
  }

  const std::unique_ptr<comm::Transport> inner_;
  const MessageFault fault_;
  std::unordered_map<comm::Request, Control> control_;
  std::vector<comm::Completion> arrived_;
  std::uint64_t received_ = 0;
};

}  // namespace

MessageFault parse_message_fault(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::string kind;
  MessageFault fault;
  char colon = 0;
  std::getline(stream, kind, ':');
  stream >> fault.rank >> colon >> fault.number >> colon >> fault.seed;
  if (!stream || (kind != "flip" && kind != "lose"))
    throw std::invalid_argument(fmt::format("HETSORT_MESSAGE_FAULT '{}' is not flip|lose:RANK:NUMBER:SEED", text));
  fault.kind = kind == "flip" ? MessageFault::Kind::kFlip : MessageFault::Kind::kLose;
  return fault;
}

std::unique_ptr<comm::Transport> with_fault(std::unique_ptr<comm::Transport> transport, const MessageFault& fault) {
  return std::make_unique<FaultyTransport>(std::move(transport), fault);
}

}  // namespace hetsort::machinery
