// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "comm/base/packing.h"

namespace hetsort::comm {

namespace {

using Settings = std::map<std::string, std::string>;

/// Maximum bytes of a value in a message; a longer value is shortened.
constexpr std::size_t kMaxShownBytes = 60;
/// Bytes shown before the first difference.
constexpr std::size_t kContextBytes = 20;

Settings by_name(const std::vector<SharedSetting>& settings) {
  Settings result;
  for (const auto& [name, value] : settings) {
    const auto [at, is_new] = result.emplace(name, value);
    if (!is_new) at->second += " " + value;
  }
  return result;
}

Bytes encode(const Settings& settings) {
  Packer packer;
  packer.number(settings.size());
  for (const auto& [name, value] : settings) {
    packer.text(name);
    packer.text(value);
  }
  return packer.take();
}

Settings decode(const Bytes& bytes) {
  Unpacker unpacker(bytes);
  Settings settings;
  for (std::uint64_t left = unpacker.number(); left > 0; --left) {
    std::string name = unpacker.text();
    settings[std::move(name)] = unpacker.text();
  }
  unpacker.end();
  return settings;
}

/// The part of a long value that contains the byte at `difference`.
std::string shortened(const std::string& value, std::size_t difference) {
  if (value.size() <= kMaxShownBytes) return value;
  const std::size_t before = difference > kContextBytes ? difference - kContextBytes : 0;
  const std::size_t begin = std::min(before, value.size() - kMaxShownBytes);
  const bool is_end = begin + kMaxShownBytes >= value.size();
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", value.substr(begin, kMaxShownBytes), is_end ? "" : "...");
}

std::string described(const std::string& name, const std::optional<std::string>& own, const std::string& other) {
  if (!own) return "no " + name;
  if (own->empty()) return name;
  const auto [difference, unused] = std::mismatch(own->begin(), own->end(), other.begin(), other.end());
  return name + " " + shortened(*own, static_cast<std::size_t>(difference - own->begin()));
}

std::optional<std::string> find(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::nullopt : std::optional(found->second);
}

struct Differences {
  std::string mine;
  std::string rank0;
};

Differences compare(const Settings& mine, const Settings& rank0) {
  Settings all = mine;
  all.insert(rank0.begin(), rank0.end());
  Differences found;
  const auto list = [](std::string& text, const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  for (const auto& [name, unused] : all) {
    const std::optional<std::string> own = find(mine, name);
    const std::optional<std::string> first = find(rank0, name);
    if (own == first) continue;
    list(found.mine, described(name, own, first.value_or("")));
    list(found.rank0, described(name, first, own.value_or("")));
  }
  return found;
}

/// How many ranks differ, and the first one's message.
struct Verdict {
  std::uint64_t ranks = 0;
  std::string text;
};

Bytes encode(const Verdict& verdict) {
  Packer packer;
  packer.number(verdict.ranks);
  packer.text(verdict.text);
  return packer.take();
}

Verdict decode_verdict(const Bytes& bytes) {
  Unpacker unpacker(bytes);
  Verdict verdict;
  verdict.ranks = unpacker.number();
  verdict.text = unpacker.text();
  unpacker.end();
  return verdict;
}

}  // namespace

void require_same_on_all_ranks(Communicator& ranks, const std::vector<SharedSetting>& settings) {
  const Settings mine = by_name(settings);
  const Settings rank0 = decode(ranks.broadcast(encode(mine)));
  Verdict verdict;
  if (mine != rank0) {
    const Differences found = compare(mine, rank0);
    verdict = {1, fmt::format("rank {} ({}) has {}; rank 0 ({}) has {}", ranks.rank(), ranks.host(), found.mine,
                              ranks.host(0), found.rank0)};
  }
  verdict = decode_verdict(ranks.all_reduce(encode(verdict), [](const Bytes& low, const Bytes& high) {
    const Verdict one = decode_verdict(low);
    const Verdict two = decode_verdict(high);
    return encode(Verdict{one.ranks + two.ranks, one.ranks > 0 ? one.text : two.text});
  }));
  if (verdict.ranks == 0) return;
  const std::string more = verdict.ranks > 1 ? fmt::format(" ({} ranks differ from rank 0)", verdict.ranks) : "";
  throw JobMismatch(fmt::format("the ranks were started differently: {}{}; start all ranks with the same options",
                                verdict.text, more));
}

}  // namespace hetsort::comm
