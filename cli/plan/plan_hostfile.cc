// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/options/command_line.h"
#include "cli/plan/plan_output.h"
#include "job/report/printable.h"

namespace hetsort::cli {

bool can_be_host(std::string_view name) {
  return name.find_first_of(" \"#=") == std::string::npos && job::is_printable(name);
}

std::string plan_hostfile(const partition::Plan& plan) {
  std::string text;
  const auto gets_records = [&](const partition::NodePlan& node) { return node.records > 0; };
  for (std::size_t i = 0; i < plan.nodes.size();) {
    const std::string& name = plan.nodes[i].name;
    if (name.find_first_not_of("0123456789") == std::string::npos)
      throw UsageError(
          fmt::format("--emit-hostfile: node {} has no name; give it its host's in the cluster file", name));
    if (!can_be_host(name)) throw UsageError(fmt::format("--emit-hostfile: '{}' cannot be a host name", name));
    std::size_t end = i;
    while (end < plan.nodes.size() && plan.nodes[end].name == name) ++end;
    const auto slots = std::count_if(plan.nodes.begin() + static_cast<std::ptrdiff_t>(i),
                                     plan.nodes.begin() + static_cast<std::ptrdiff_t>(end), gets_records);
    if (slots > 0) text += fmt::format("{} slots={}\n", name, slots);
    i = end;
  }
  return text;
}

}  // namespace hetsort::cli
