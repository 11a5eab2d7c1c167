// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables of options. An option has a name and a text, and its row says all that is known of it: what help and
// completions show, which other options it excludes, which ranks must have it alike, and how its text fills a field of
// the request. The command line, C's hetsort_options_set() and Python's **options all use these rows.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/agreement.h"

namespace hetsort::job {

/// Another option that must not be given together with an option. The message is "ONE WHY: it excludes OTHER", or, if
/// `why` is empty, "ONE and OTHER exclude each other".
struct Exclusion {
  std::string other;
  std::string why{};
  std::string instead{};  ///< an option that does the work of `other`, which the message names too; empty = none
};

struct Option {
  std::string name{};        ///< long name; empty = the option has a letter only
  char letter = '\0';        ///< '\0' = none
  std::string synonym{};     ///< another long name; empty = none
  std::string value{};       ///< what stands for the value in help; empty = a switch
  std::string usual{};       ///< the default as help shows it; empty = help says nothing of it
  std::string help{};        ///< one sentence or two, without a full stop
  std::string group{};       ///< heading in help, see Options::begin_group()
  bool repeatable = false;   ///< every value counts; else the last one does
  bool of_one_rank = false;  ///< the ranks of a job need not agree on it
  std::vector<Exclusion> excludes{};
  /// Puts the value into the request. `what` is the word for this option in messages. Throws: RequestError.
  std::function<void(const std::string& text, const std::string& what)> fill{};
  std::vector<std::string> words{};  ///< the values that completions offer; empty = names of files

  bool is_switch() const { return value.empty(); }
  /// The long name, else the letter: unique in a table.
  std::string id() const { return name.empty() ? std::string(1, letter) : name; }
};

/// The options of one command or call, bound to the request that they fill. Requires: the request outlives it.
class Options {
 public:
  void add(Option option) {
    option.group = group_;
    options_.push_back(std::move(option));
  }
  /// What is added from now on belongs to this group.
  void begin_group(const char* name) { group_ = name; }
  const std::vector<Option>& all() const { return options_; }
  /// By long name, synonym or, of an option without a long name, letter; '_' counts as '-'. nullptr = there is none.
  const Option* find(std::string_view name) const;
  const Option* find_letter(char letter) const;

  /// Fills the request with an option that was given; `text` is empty for a switch.
  /// Throws: RequestError for an unknown name, a value of a switch, and as Option::fill.
  void set(std::string_view name, const std::string& text);
  /// Records that the caller itself has filled the field of an option with what `text` says. Requires: it exists.
  void note(const std::string& id, const std::string& text) { given_.emplace_back(id, text); }
  /// Ids and texts of what was given, in order.
  const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }
  bool is_given(std::string_view id) const;
  /// Throws: RequestError if two options that were given exclude each other.
  void check_exclusions() const;
  /// What was given and must be the same on all ranks: names and values.
  std::vector<comm::SharedSetting> shared() const;

 private:
  std::string group_;
  std::vector<Option> options_;
  std::vector<std::pair<std::string, std::string>> given_;
};

/// The word for an option in messages.
std::string word_for(const Option& option);

}  // namespace hetsort::job
