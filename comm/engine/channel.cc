// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/engine/channel.h"

#include <cassert>
#include <span>

#include "comm/base/crc32c.h"

namespace hetsort::comm {

namespace {

constexpr const char* kDamaged = "arrived damaged: the network or memory changed it";
constexpr const char* kLost = "is missing: the network lost it";

}  // namespace

void Channel::open(const std::vector<int>& peers) {
  for (const int rank : peers) peers_[rank].rank = rank;
  peers_left_ = peers_.size();
  for (auto& [rank, peer] : peers_) expect(peer);
}

void Channel::post(int to, const Bytes& message) {
  const auto peer = peers_.find(to);
  assert(peer != peers_.end() && !message.empty());
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  Frame frame = make_frame(peer->second.next_sent++, message);
  send(to, tag_, std::move(frame.first));
  if (!frame.rest.empty()) send(to, tag_ + 1, std::move(frame.rest));
}

void Channel::close() {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  closed_ = true;
  for (const auto& [rank, peer] : peers_) send(rank, tag_, make_goodbye(peer.next_sent));
}

void Channel::send(int to, int tag, Bytes bytes) {
  const auto kept = std::make_shared<Bytes>(std::move(bytes));
  submit_(Direction::kOut, {to, tag, kept->data(), kept->size(), [kept](std::size_t) {}, true, counted_});
}

void Channel::expect(Peer& peer) {
  submit_(Direction::kIn, {peer.rank, tag_, peer.first_part.data(), peer.first_part.size(),
                           [this, &peer](std::size_t bytes) { arrived(peer, bytes); }, true, counted_});
}

void Channel::arrived(Peer& peer, std::size_t bytes) {
  std::optional<FramePart> part = read_first_part(std::span(peer.first_part).first(bytes));
  if (bytes == kFrameHeaderBytes) {
    if (part && part->sequence != peer.next_received) handlers_.fault(peer.rank, kLost, false);
    --peers_left_;
    return handlers_.message(peer.rank, {});
  }
  if (!part) {
    // A full first part may have a second part, of unknown length, so that further messages cannot be read.
    const bool is_last = bytes == kFirstPartBytes;
    ++peer.next_received;
    if (!is_last) expect(peer);
    return handlers_.fault(peer.rank, kDamaged, is_last);
  }
  if (part->sequence != peer.next_received) handlers_.fault(peer.rank, kLost, false);
  peer.next_received = part->sequence + 1;
  peer.first_bytes = part->bytes.size();
  peer.rest_checksum = part->rest_checksum;
  peer.message = std::move(part->bytes);
  peer.message.resize(part->length);
  peer.first_bytes == part->length ? deliver(peer) : expect_rest(peer);
}

void Channel::expect_rest(Peer& peer) {
  submit_(Direction::kIn,
          {peer.rank, tag_ + 1, peer.message.data() + peer.first_bytes, peer.message.size() - peer.first_bytes,
           [this, &peer](std::size_t bytes) { rest_arrived(peer, bytes); }, true, counted_});
}

void Channel::rest_arrived(Peer& peer, std::size_t bytes) {
  const std::span<const std::byte> rest = std::span(peer.message).subspan(peer.first_bytes);
  if (bytes == rest.size() && crc32c(rest) == peer.rest_checksum) return deliver(peer);
  expect(peer);
  handlers_.fault(peer.rank, kDamaged, false);
}

void Channel::deliver(Peer& peer) {
  const Bytes message = std::move(peer.message);
  peer.message = {};
  expect(peer);
  handlers_.message(peer.rank, message);
}

}  // namespace hetsort::comm
