// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "partition/text/cost_text.h"

#include <string>
#include <string_view>
#include <vector>

#include "partition/cost/error.h"
#include "partition/cost/formula_costs.h"
#include "partition/cost/measured_costs.h"

namespace hetsort::partition {
namespace {

/// One kind of cost function: its fields in a cluster file and how to make it.
struct CostKind {
  std::string_view name;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  CostPtr (*make)(const TomlTable&);
};

CostPtr make_table(const TomlTable& table) {
  std::vector<CostPoint> points;
  for (const auto& [records, cost] : table.pairs("points")) points.push_back({records, cost});
  return table_cost(std::move(points));
}

const std::vector<CostKind>& cost_kinds() {
  static const std::vector<CostKind> kinds{
      {"linear", {"per_record"}, {}, [](const TomlTable& t) { return linear_cost(t.number("per_record")); }},
      {"affine",
       {"start", "per_record"},
       {},
       [](const TomlTable& t) {
         return affine_cost({t.number("start"), t.number("per_record")});
       }},
      {"nlogn",
       {"coefficient"},
       {"start", "per_record"},
       [](const TomlTable& t) {
         return nlogn_cost({t.number("coefficient"), t.number_or("start", 0), t.number_or("per_record", 0)});
       }},
      {"power",
       {"coefficient", "exponent"},
       {},
       [](const TomlTable& t) { return power_cost(t.number("coefficient"), t.number("exponent")); }},
      {"table", {"points"}, {}, make_table},
      {"step",
       {"per_record", "memory_records", "io_step"},
       {},
       [](const TomlTable& t) {
         return step_cost({t.number("per_record"), t.number("memory_records"), t.number("io_step")});
       }},
  };
  return kinds;
}

}  // namespace

CostPtr read_cost(const TomlTable& table) {
  std::vector<std::string_view> names;
  const std::string kind_name = table.text("kind");
  for (const CostKind& kind : cost_kinds()) {
    names.push_back(kind.name);
    if (kind.name != kind_name) continue;
    std::vector<std::string_view> known{"kind"};
    known.insert(known.end(), kind.required.begin(), kind.required.end());
    known.insert(known.end(), kind.optional.begin(), kind.optional.end());
    table.allow_only(known);
    try {
      return kind.make(table);
    } catch (const TomlError&) {
      throw;
    } catch (const PlanError& error) {
      table.fail("kind", error.what());
    }
  }
  table.fail_unknown("kind", "kind of cost", kind_name, names);
}

}  // namespace hetsort::partition
