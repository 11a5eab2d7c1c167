// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/options/option.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/field.h"
#include "job/request/request_error.h"

namespace hetsort::job {

std::string word_for(const Option& option) {
  std::string name = option.id();
  std::ranges::replace(name, '-', '_');
  return io::field(name);
}

const Option* Options::find(std::string_view name) const {
  std::string wanted(name);
  std::ranges::replace(wanted, '_', '-');
  const auto found = std::ranges::find_if(options_, [&](const Option& option) {
    return !wanted.empty() && (option.id() == wanted || option.synonym == wanted);
  });
  return found == options_.end() ? nullptr : &*found;
}

const Option* Options::find_letter(char letter) const {
  const auto found = std::ranges::find(options_, letter, &Option::letter);
  return found == options_.end() ? nullptr : &*found;
}

void Options::set(std::string_view name, const std::string& text) {
  const Option* const option = find(name);
  if (option == nullptr) throw RequestError(fmt::format("unknown option '{}'", name));
  const std::string word = word_for(*option);
  if (option->is_switch() && !text.empty()) throw RequestError(fmt::format("option {} takes no value", word));
  // A switch that is given twice means the same, as in sort(1).
  if (option->is_switch() && is_given(option->id())) return;
  option->fill(text, word);
  given_.emplace_back(option->id(), text);
}

bool Options::is_given(std::string_view id) const {
  return std::ranges::any_of(given_, [&](const auto& given) { return given.first == id; });
}

void Options::check_exclusions() const {
  for (const Option& option : options_) {
    if (!is_given(option.id())) continue;
    for (const Exclusion& exclusion : option.excludes) {
      if (!is_given(exclusion.other)) continue;
      const std::string one = word_for(option);
      const std::string other = word_for(*find(exclusion.other));
      const std::string instead = exclusion.instead.empty() || exclusion.instead == option.id()
                                      ? ""
                                      : fmt::format("; use {}", word_for(*find(exclusion.instead)));
      throw RequestError(exclusion.why.empty()
                             ? fmt::format("{} and {} exclude each other", one, other)
                             : fmt::format("{} {}: it excludes {}{}", one, exclusion.why, other, instead));
    }
  }
}

std::vector<comm::SharedSetting> Options::shared() const {
  std::vector<comm::SharedSetting> settings;
  for (const auto& [id, text] : given_)
    if (!find(id)->of_one_rank) settings.push_back({id, text});
  return settings;
}

}  // namespace hetsort::job
