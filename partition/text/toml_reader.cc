// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
// toml++ 3.3 has assertions that fail on malformed text such as "[[[". Without them it goes on to report the error.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>

namespace hetsort::partition {

struct TomlState {
  std::string name;
  toml::table root;
};

namespace {

// Rates of links between 4,000 nodes, or 10^6 nodes with a few fields each, take about 150 MB of text. The parsed text
// takes about ten times its bytes, so that more would fill the memory of many machines.
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxNesting = 16;

[[noreturn]] void fail_at(const TomlState& state, toml::source_position place, std::string_view message) {
  throw TomlError(fmt::format("{}:{}:{}: {}", state.name, place.line, place.column, message));
}

const toml::table& as_table(const void* table) { return *static_cast<const toml::table*>(table); }

toml::source_position place_of(const toml::node& node) { return node.source().begin; }

/// Something the user wrote, made short and printable for a message.
std::string quoted(std::string_view word) {
  constexpr std::size_t kMaxLength = 60;
  std::string text(word.substr(0, kMaxLength));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  return fmt::format("'{}{}'", text, word.size() > kMaxLength ? "..." : "");
}

}  // namespace

TomlDocument::TomlDocument(std::string_view text, std::string_view name) : state_(std::make_unique<TomlState>()) {
  state_->name = std::string(name);
  if (text.size() > kMaxFileBytes)
    throw TomlError(
        fmt::format("{}: {} bytes, more than the {} a cluster file may have", name, text.size(), kMaxFileBytes));
  if (const auto hazard = find_hazard(text, kMaxNesting))
    throw TomlError(fmt::format("{}:{}:{}: {}", name, hazard->place.line, hazard->place.column, hazard->what));
  try {
    state_->root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail_at(*state_, error.source().begin, error.description());
  }
}

TomlDocument::~TomlDocument() = default;

TomlTable TomlDocument::root() const { return {*state_, &state_->root}; }

bool TomlTable::has(std::string_view key) const { return as_table(table_).contains(key); }

void TomlTable::fail(std::string_view key, std::string_view message) const {
  const toml::node* node = as_table(table_).get(key);
  fail_at(*state_, node ? place_of(*node) : place_of(as_table(table_)), message);
}

void TomlTable::fail_unknown(std::string_view key, std::string_view what, std::string_view word,
                             std::span<const std::string_view> known) const {
  fail(key, fmt::format("unknown {} {}; known: {}", what, quoted(word), fmt::join(known, ", ")));
}

void TomlTable::allow_only(const std::vector<std::string_view>& known) const {
  for (const auto& [key, node] : as_table(table_)) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    fail_at(*state_, key.source().begin,
            fmt::format("unknown field {}; known: {}", quoted(key.str()), fmt::join(known, ", ")));
  }
}

std::string TomlTable::text(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node) fail(key, fmt::format("the field '{}' is missing", key));
  const auto value = node->value_exact<std::string>();
  if (!value) fail(key, fmt::format("{} must be a text in quotes", key));
  return *value;
}

TextPlace TomlTable::place() const {
  const toml::source_position place = place_of(as_table(table_));
  return {place.line, place.column};
}

TextPlace TomlTable::place(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node) return place();
  const toml::source_position place = place_of(*node);
  return {place.line, place.column};
}

bool TomlTable::each_number(std::string_view key, const std::function<void(double)>& read) const {
  const toml::node* node = as_table(table_).get(key);
  const auto read_one = [&](const toml::node& element) {
    if (!element.is_number()) fail_at(*state_, place_of(element), fmt::format("{} must hold numbers", key));
    try {
      read(*element.value<double>());
    } catch (const PlanError& error) {
      fail_at(*state_, place_of(element), error.what());
    }
  };
  if (!node || !node->is_array()) {
    if (!node || !node->is_number()) fail(key, fmt::format("{} must be a number, or a list of one for each node", key));
    read_one(*node);
    return false;
  }
  for (const toml::node& element : *node->as_array()) read_one(element);
  return true;
}

void TomlTable::each_text(std::string_view key, const std::function<void(const std::string&)>& read) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node) return;
  if (!node->is_array()) fail(key, fmt::format("{} must be a list of texts", key));
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_string()) fail_at(*state_, place_of(element), fmt::format("{} must hold texts in quotes", key));
    try {
      read(*element.value_exact<std::string>());
    } catch (const PlanError& error) {
      fail_at(*state_, place_of(element), error.what());
    }
  }
}

void TomlTable::read_square(
    std::string_view key, std::size_t size,
    const std::function<void(std::size_t row, std::size_t column, const std::string& text)>& read) const {
  const auto list_of = [&](const toml::node& node, std::string_view what) -> const toml::array& {
    if (!node.is_array()) fail_at(*state_, place_of(node), fmt::format("{} must be a list of lists", key));
    const toml::array& list = *node.as_array();
    if (list.size() != size)
      fail_at(*state_, place_of(node),
              fmt::format("{} must have {} {}, one for each node, not {}", key, size, what, list.size()));
    return list;
  };
  const toml::array& rows = list_of(*as_table(table_).get(key), "rows");
  for (std::size_t row = 0; row < size; ++row) {
    const toml::array& cells = list_of(rows[row], "columns in each row");
    for (std::size_t column = 0; column < size; ++column) {
      const toml::node& cell = cells[column];
      try {
        if (cell.is_integer())
          read(row, column, std::to_string(*cell.value_exact<std::int64_t>()));
        else if (cell.is_string())
          read(row, column, *cell.value_exact<std::string>());
        else
          throw PlanError(fmt::format("{} must hold texts such as \"1gbit\"", key));
      } catch (const PlanError& error) {
        fail_at(*state_, place_of(cell), error.what());
      }
    }
  }
}

std::string TomlTable::text_or_number(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (node && node->is_integer()) return std::to_string(*node->value_exact<std::int64_t>());
  if (node && !node->is_string()) fail(key, fmt::format("{} must be a text such as \"8GiB\"", key));
  return text(key);
}

double TomlTable::number(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node) fail(key, fmt::format("the field '{}' is missing", key));
  if (!node->is_number()) fail(key, fmt::format("{} must be a number", key));
  return *node->value<double>();
}

double TomlTable::number_or(std::string_view key, double otherwise) const { return has(key) ? number(key) : otherwise; }

std::int64_t TomlTable::whole(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node || !node->is_integer()) fail(key, fmt::format("{} must be a whole number", key));
  return *node->value_exact<std::int64_t>();
}

bool TomlTable::truth(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node || !node->is_boolean()) fail(key, fmt::format("{} must be true or false", key));
  return *node->value_exact<bool>();
}

TomlTable TomlTable::table(std::string_view key) const {
  const toml::node* node = as_table(table_).get(key);
  if (!node || !node->is_table())
    fail(key, fmt::format("{} must be a table such as {{ kind = \"linear\", per_record = 1e-6 }}", key));
  return {*state_, node->as_table()};
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  std::vector<TomlTable> tables;
  const toml::node* node = as_table(table_).get(key);
  if (!node) return tables;
  if (!node->is_array()) fail(key, fmt::format("{0} must be a list of tables: write [[{0}]]", key));
  for (const toml::node& element : *node->as_array()) {
    if (!element.is_table()) fail_at(*state_, place_of(element), fmt::format("{0} must be a table: [[{0}]]", key));
    tables.push_back({*state_, element.as_table()});
  }
  return tables;
}

std::vector<std::pair<double, double>> TomlTable::pairs(std::string_view key) const {
  std::vector<std::pair<double, double>> pairs;
  const toml::node* node = as_table(table_).get(key);
  if (!node || !node->is_array()) fail(key, fmt::format("{} must be a list of [records, seconds] pairs", key));
  for (const toml::node& element : *node->as_array()) {
    const toml::array* pair = element.as_array();
    if (!pair || pair->size() != 2 || !(*pair)[0].is_number() || !(*pair)[1].is_number())
      fail_at(*state_, place_of(element), fmt::format("{} must hold pairs of numbers: [records, seconds]", key));
    pairs.emplace_back(*(*pair)[0].value<double>(), *(*pair)[1].value<double>());
  }
  return pairs;
}

}  // namespace hetsort::partition
