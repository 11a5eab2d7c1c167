// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/machinery/fault_rules.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace hetsort::machinery {

namespace {

using io::Call;
using io::kCallKinds;

struct Rule {
  enum class When : std::uint8_t { kOnce, kFromThenOn, kAtRandom };
  Call call{};
  When when = When::kOnce;
  std::uint64_t number = 0;
  Fault fault;
};

struct Plan {
  std::vector<Rule> rules;
  std::mutex mutex;  // guards everything below
  std::array<std::uint64_t, kCallKinds> seen{};
  std::mt19937_64 random;
};

// The plan in force. It and the few before it are kept, because a thread of another test may still look at one.
std::atomic<Plan*> plan_in_force{nullptr};
constexpr std::size_t kPlansKept = 16;
void keep(std::unique_ptr<Plan> plan) {
  static auto& kept = *new std::deque<std::unique_ptr<Plan>>;  // outlives all threads
  kept.push_back(std::move(plan));
  if (kept.size() > kPlansKept) kept.pop_front();
}
std::atomic<std::uint64_t> fired{0};

constexpr std::array<std::pair<std::string_view, Call>, kCallKinds> kCallNames{{{"open", Call::kOpen},
                                                                                {"read", Call::kRead},
                                                                                {"write", Call::kWrite},
                                                                                {"sync", Call::kSync},
                                                                                {"allocate", Call::kAllocate},
                                                                                {"truncate", Call::kTruncate},
                                                                                {"link", Call::kLink},
                                                                                {"rename", Call::kRename},
                                                                                {"stat", Call::kStat},
                                                                                {"chmod", Call::kChmod},
                                                                                {"unlink", Call::kUnlink},
                                                                                {"map", Call::kMap}}};
constexpr std::array<std::pair<std::string_view, int>, 11> kErrnoNames{{{"EIO", EIO},
                                                                        {"ENOSPC", ENOSPC},
                                                                        {"EINTR", EINTR},
                                                                        {"EACCES", EACCES},
                                                                        {"ENOMEM", ENOMEM},
                                                                        {"EINVAL", EINVAL},
                                                                        {"EDQUOT", EDQUOT},
                                                                        {"EFAULT", EFAULT},
                                                                        {"ENOENT", ENOENT},
                                                                        {"ENOSYS", ENOSYS},
                                                                        {"EPERM", EPERM}}};

constexpr std::uint64_t kMaxDelayMilliseconds = 1'000'000;

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("fault plan: cannot read '" + text + "'; expected KIND:N:FAULT");
}

std::uint64_t parse_number(std::string_view text, const std::string& whole) {
  std::uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) refuse(whole);
  return number;
}

Fault parse_fault(std::string_view text, const std::string& whole) {
  if (text == "short") return {Fault::Kind::kShort, 0};
  if (text == "corrupt") return {Fault::Kind::kCorrupt, 0};
  if (text.starts_with("delay")) {
    const std::uint64_t milliseconds = parse_number(text.substr(5), whole);
    if (milliseconds > kMaxDelayMilliseconds) refuse(whole);
    return {Fault::Kind::kDelay, static_cast<int>(milliseconds)};
  }
  for (const auto& [name, value] : kErrnoNames)
    if (name == text) return {Fault::Kind::kErrno, value};
  refuse(whole);
}

Rule parse_rule(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) refuse(text);
  const std::string_view all = text;
  Rule rule;
  bool known = false;
  for (const auto& [name, call] : kCallNames) {
    if (name != all.substr(0, first)) continue;
    rule.call = call;
    known = true;
  }
  if (!known) refuse(text);
  std::string_view number = all.substr(first + 1, second - first - 1);
  if (number.starts_with('~')) {
    rule.when = Rule::When::kAtRandom;
    number.remove_prefix(1);
  } else if (number.ends_with('+')) {
    rule.when = Rule::When::kFromThenOn;
    number.remove_suffix(1);
  }
  rule.number = parse_number(number, text);
  if (rule.number == 0) refuse(text);
  rule.fault = parse_fault(all.substr(second + 1), text);
  return rule;
}

}  // namespace

void set_fault_rules(const std::string& text) {
  fired = 0;
  if (text.empty()) {
    plan_in_force = nullptr;
    return;
  }
  if (text.back() == ',') refuse(text);
  auto plan = std::make_unique<Plan>();
  const char* seed = std::getenv("HETSORT_FAULT_SEED");
  plan->random.seed(seed ? parse_number(seed, seed) : 1);
  std::istringstream rules(text);
  for (std::string rule; std::getline(rules, rule, ',');) plan->rules.push_back(parse_rule(rule));
  plan_in_force = plan.get();
  keep(std::move(plan));
}

std::uint64_t rules_fired() { return fired; }

Fault next_fault(io::Call kind) {
  Plan* plan = plan_in_force.load(std::memory_order_acquire);
  if (plan == nullptr) return {};
  const std::lock_guard lock(plan->mutex);
  const std::uint64_t number = ++plan->seen[static_cast<std::size_t>(kind)];
  for (const Rule& rule : plan->rules) {
    if (rule.call != kind) continue;
    const bool hit = rule.when == Rule::When::kOnce         ? number == rule.number
                     : rule.when == Rule::When::kFromThenOn ? number >= rule.number
                                                            : plan->random() % rule.number == 0;
    if (!hit) continue;
    ++fired;
    return rule.fault;
  }
  return {};
}

}  // namespace hetsort::machinery
