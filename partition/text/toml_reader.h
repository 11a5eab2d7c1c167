// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads TOML, with positions in every message and safe for hostile text. Keeps toml++ to one source file. Internal to
// the library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "partition/cost/error.h"
#include "partition/text/toml_hazard.h"

namespace hetsort::partition {

/// A PlanError that already carries its file, line and column.
class TomlError : public PlanError {
 public:
  using PlanError::PlanError;
};

struct TomlState;  // the parsed text and its name

/// A table of the document. Every getter throws TomlError at the value's place when it is missing or of another type.
/// Valid as long as its document.
class TomlTable {
 public:
  TomlTable(const TomlState& state, const void* table) : state_(&state), table_(table) {}

  bool has(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string text_or_number(std::string_view key) const;  ///< a whole number as its digits
  double number(std::string_view key) const;               ///< whole or real; may be inf or nan, as TOML's may
  double number_or(std::string_view key, double otherwise) const;
  std::int64_t whole(std::string_view key) const;
  bool truth(std::string_view key) const;
  TomlTable table(std::string_view key) const;
  std::vector<TomlTable> tables(std::string_view key) const;  ///< an array of tables; none when it is missing
  std::vector<std::pair<double, double>> pairs(std::string_view key) const;  ///< an array of [number, number]

  /// Calls `read` for each number of a list, or for the single number. A PlanError that `read` throws becomes a
  /// TomlError at the number. Returns whether it is a list.
  bool each_number(std::string_view key, const std::function<void(double)>& read) const;
  /// Calls `read` for each text of a list, as each_number() does. Does nothing if the list is missing.
  void each_text(std::string_view key, const std::function<void(const std::string&)>& read) const;

  TextPlace place() const;
  TextPlace place(std::string_view key) const;  ///< place of the value, or of the table when it has none

  /// Calls `read` for each cell of a list of `size` lists of `size` texts or whole numbers. A PlanError that `read`
  /// throws becomes a TomlError at the cell.
  void read_square(std::string_view key, std::size_t size,
                   const std::function<void(std::size_t row, std::size_t column, const std::string& text)>& read) const;

  /// Throws: TomlError at the first key that is not `known`, listing those that are.
  void allow_only(const std::vector<std::string_view>& known) const;

  /// Throws TomlError at the value of `key`, or at the table when it has none.
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  [[noreturn]] void fail_unknown(std::string_view key, std::string_view what, std::string_view word,
                                 std::span<const std::string_view> known) const;

 private:
  const TomlState* state_;
  const void* table_;
};

class TomlDocument {
 public:
  /// Throws: TomlError for a syntax error, nesting beyond 16 levels or more than 256 MiB of text.
  TomlDocument(std::string_view text, std::string_view name);
  ~TomlDocument();
  TomlDocument(const TomlDocument&) = delete;
  TomlDocument& operator=(const TomlDocument&) = delete;

  TomlTable root() const;

 private:
  std::unique_ptr<TomlState> state_;
};

}  // namespace hetsort::partition
