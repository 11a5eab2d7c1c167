// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives: messages up and down the tree.
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "comm/base/packing.h"
#include "comm/engine/engine.h"

namespace hetsort::comm {

std::vector<int> Engine::children() const {
  std::vector<int> found;
  for (int step = 1; rank() + step < size() && (rank() & step) == 0; step *= 2) found.push_back(rank() + step);
  return found;
}

std::vector<int> Engine::tree_peers() const {
  std::vector<int> peers = children();
  if (rank() != 0) peers.push_back(parent());
  return peers;
}

void Engine::send_tree(int to, TreeMessage kind, std::uint64_t number, const Bytes& body) {
  {
    const std::lock_guard lock(driver_.mutex());
    ++tree_peer(to).sent;
  }
  Packer packer;
  packer.reserve(sizeof(kind) + sizeof(number) + body.size());
  packer.value(kind);
  packer.number(number);
  packer.raw(body);
  tree_channel_->post(to, packer.take());
  driver_.progress();  // inline mode: the next call may come much later
}

void Engine::on_tree_message(int from, const Bytes& message) {
  if (message.empty()) {
    tree_heartbeat_->gone(from);
    {
      const std::lock_guard lock(driver_.mutex());
      if (awaits(from)) is_cut_off_ = true;
    }
    return driver_.notify();
  }
  tree_heartbeat_->heard(from, {});
  Unpacker unpacker(message);
  const auto kind = unpacker.value<TreeMessage>();
  if (kind == TreeMessage::kAlive) {
    const bool awaits_this_rank = unpacker.value<std::uint8_t>() != 0;
    return on_tree_sign_of_life(from, awaits_this_rank, unpacker.number());
  }
  if (kind > TreeMessage::kAlive) throw std::runtime_error("a control message of no known kind arrived");
  Arrived arrived{unpacker.number(), unpacker.bytes(unpacker.left())};
  {
    const std::lock_guard lock(driver_.mutex());
    ++tree_peer(from).received;
    tree_peer(from).arrived.at(static_cast<std::size_t>(kind)).push_back(std::move(arrived));
  }
  driver_.notify();
}

bool Engine::awaits(int peer) const {
  return awaited_rank_ == peer && tree_.at(peer).arrived.at(static_cast<std::size_t>(awaited_kind_)).empty();
}

/// Called when the peer's sign of life has arrived, and with it all that the peer sent before. If the peer has also
/// received all that this rank sent, neither will continue.
void Engine::on_tree_sign_of_life(int from, bool awaits_this_rank, std::uint64_t received) {
  {
    const std::lock_guard lock(driver_.mutex());
    if (!awaits_this_rank || !awaits(from) || received != tree_peer(from).sent) return;
  }
  if (!failure_.any())
    note_failure(
        fmt::format("waits for {}, which waits for this rank: they called different collectives", name_of(from)));
}

Bytes Engine::take_tree(int from, TreeMessage kind, std::uint64_t number) {
  auto& arrived = tree_peer(from).arrived.at(static_cast<std::size_t>(kind));
  {
    const std::lock_guard lock(driver_.mutex());
    awaited_rank_ = from;
    awaited_kind_ = kind;
  }
  const auto ready = [&] {
    const bool there = !arrived.empty();
    if (there) awaited_rank_ = -1;
    return there;
  };
  kind == TreeMessage::kJob ? await_all(ready) : await(ready);
  std::unique_lock lock(driver_.mutex());
  Arrived first = std::move(arrived.front());
  arrived.pop_front();
  lock.unlock();
  if (first.number == number) return std::move(first.bytes);
  // After a failure an earlier message may be missing.
  if (failure_.any()) kind == TreeMessage::kJob ? give_up() : check();
  throw std::logic_error("ranks called different collectives");
}

Bytes Engine::up(TreeMessage kind, Bytes mine, const Combine& combine) {
  if (kind == TreeMessage::kCollective) check();
  const std::uint64_t number = tree_numbers_.at(static_cast<std::size_t>(kind))++;
  for (const int child : children()) mine = combine(std::move(mine), take_tree(child, kind, number));
  if (rank() == 0) return mine;
  send_tree(parent(), kind, number, mine);
  return {};
}

Bytes Engine::down(TreeMessage kind, Bytes bytes) {
  if (kind == TreeMessage::kCollective) check();
  const std::uint64_t number = tree_numbers_.at(static_cast<std::size_t>(kind))++;
  if (rank() != 0) bytes = take_tree(parent(), kind, number);
  const std::vector<int> below = children();
  // First the child with the most ranks below it.
  for (auto child = below.rbegin(); child != below.rend(); ++child) send_tree(*child, kind, number, bytes);
  return bytes;
}

/// The bytes of each rank travel with their length, in rank order, because subtrees consist of consecutive ranks.
std::vector<Bytes> Engine::gather(const Bytes& mine) {
  Packer packer;
  packer.number(mine.size());
  packer.raw(mine);
  const Bytes all = up(TreeMessage::kCollective, packer.take(), [](Bytes low, const Bytes& high) {
    low.insert(low.end(), high.begin(), high.end());
    return low;
  });
  std::vector<Bytes> parts;
  Unpacker unpacker(all);
  while (unpacker.left() > 0) parts.push_back(unpacker.bytes(unpacker.count(1)));
  if (rank() == 0 && parts.size() != static_cast<std::size_t>(size()))
    throw std::runtime_error("a message between ranks has too few or too many parts");
  return parts;
}

}  // namespace hetsort::comm
