// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/channel.h"

#include <algorithm>
#include <limits>

#include "comm/bytes.h"

namespace hetsort::comm {

namespace {

constexpr std::uint64_t kGoodbye = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void Channel::open(const std::vector<int>& peers) {
  for (const int rank : peers) {
    peers_.push_back(std::make_unique<Peer>());
    peers_.back()->rank = rank;
  }
  peers_left_ = peers_.size();
  for (const auto& peer : peers_) expect(*peer);
}

void Channel::post(int to, const Bytes& message) {
  const std::uint64_t length = message.size();
  const std::size_t first = std::min(message.size(), kInlineBytes);
  Bytes slot;
  append_value(slot, length);
  append(slot, message.data(), first);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  send(to, tag_, std::move(slot));
  if (first < message.size())
    send(to, tag_ + 1, Bytes(message.begin() + static_cast<std::ptrdiff_t>(first), message.end()));
}

void Channel::close() {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  for (const auto& peer : peers_) {
    Bytes slot;
    append_value(slot, kGoodbye);
    send(peer->rank, tag_, std::move(slot));
  }
}

void Channel::send(int to, int tag, Bytes bytes) {
  const auto kept = std::make_shared<Bytes>(std::move(bytes));
  submit_(Lane::Way::kOut, {to, tag, kept->data(), kept->size(), [kept](std::size_t) {}, true, counted_});
}

void Channel::expect(Peer& peer) {
  submit_(Lane::Way::kIn, {peer.rank, tag_, peer.slot.data(), peer.slot.size(),
                           [this, &peer](std::size_t bytes) { arrived(peer, bytes); }, true, counted_});
}

void Channel::arrived(Peer& peer, std::size_t bytes) {
  const auto length = value_at<std::uint64_t>(peer.slot, 0);
  if (length == kGoodbye) {
    --peers_left_;
    handler_(peer.rank, {});
    return;
  }
  peer.message.resize(length);
  const std::size_t first = bytes - sizeof(length);
  std::copy_n(peer.slot.begin() + sizeof(length), first, peer.message.begin());
  if (first == length) return deliver(peer);
  submit_(Lane::Way::kIn, {peer.rank, tag_ + 1, peer.message.data() + first, length - first,
                           [this, &peer](std::size_t) { deliver(peer); }, true, counted_});
}

void Channel::deliver(Peer& peer) {
  Bytes message = std::move(peer.message);
  peer.message = {};
  expect(peer);
  handler_(peer.rank, std::move(message));
}

}  // namespace hetsort::comm
