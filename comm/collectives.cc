// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives over the tree's mail.
#include <utility>

#include "comm/bytes.h"
#include "comm/engine.h"

namespace hetsort::comm {

std::vector<int> Communicator::Engine::children() const {
  std::vector<int> found;
  for (int step = 1; rank() + step < size() && (rank() & step) == 0; step *= 2) found.push_back(rank() + step);
  return found;
}

void Communicator::Engine::mail(int to, Mail kind, std::uint64_t number, const Bytes& bytes) {
  Bytes message;
  message.reserve(sizeof(kind) + sizeof(number) + bytes.size());
  append_value(message, kind);
  append_value(message, number);
  append(message, bytes);
  mail_->post(to, message);
  driver_.progress();  // inline: the next call may be far away
}

void Communicator::Engine::on_mail(int from, const Bytes& bytes) {
  if (!bytes.empty()) {
    const auto kind = value_at<Mail>(bytes, 0);
    Letter letter{value_at<std::uint64_t>(bytes, sizeof(kind)), {}};
    constexpr std::size_t kHead = sizeof(kind) + sizeof(letter.number);
    append(letter.bytes, bytes.data() + kHead, bytes.size() - kHead);
    const std::lock_guard lock(driver_.mutex());
    letters_.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(from)).push_back(std::move(letter));
  }
  driver_.notify();
}

Bytes Communicator::Engine::take_mail(int from, Mail kind, std::uint64_t number) {
  auto& letters = letters_.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(from));
  const auto arrived = [&] { return !letters.empty(); };
  kind == Mail::kJob ? await_all(arrived) : await(arrived);
  const std::lock_guard lock(driver_.mutex());
  Letter letter = std::move(letters.front());
  letters.pop_front();
  if (letter.number != number) throw std::logic_error("ranks called different collectives");
  return std::move(letter.bytes);
}

Bytes Communicator::Engine::up(Mail kind, Bytes mine, const Combine& combine) {
  if (kind == Mail::kCollective) check();
  const std::uint64_t number = mail_numbers_.at(static_cast<std::size_t>(kind))++;
  for (const int child : children()) mine = combine(mine, take_mail(child, kind, number));
  if (rank() == 0) return mine;
  mail(parent(), kind, number, mine);
  return {};
}

Bytes Communicator::Engine::down(Mail kind, Bytes bytes) {
  if (kind == Mail::kCollective) check();
  const std::uint64_t number = mail_numbers_.at(static_cast<std::size_t>(kind))++;
  if (rank() != 0) bytes = take_mail(parent(), kind, number);
  const std::vector<int> below = children();
  // Who has most ranks below it first.
  for (auto child = below.rbegin(); child != below.rend(); ++child) mail(*child, kind, number, bytes);
  return bytes;
}

/// Up the tree go the lengths, 8 bytes each, and behind them the bytes, in rank order as the subtrees are.
std::vector<Bytes> Communicator::Engine::gather(Bytes mine) {
  std::vector<Bytes> parts;
  if (size() == 1) {
    check();
    parts.push_back(std::move(mine));
    return parts;
  }
  Bytes framed;
  append_value(framed, std::uint64_t{mine.size()});
  append(framed, mine);
  const Bytes all = up(Mail::kCollective, std::move(framed), concatenated);
  for (std::size_t at = 0; at < all.size();) {
    const auto length = value_at<std::uint64_t>(all, at);
    at += sizeof(length);
    append(parts.emplace_back(), all.data() + at, length);
    at += length;
  }
  return parts;
}

}  // namespace hetsort::comm
