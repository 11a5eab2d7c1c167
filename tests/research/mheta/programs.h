// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs for the tests, from the text of the two files.
#pragma once

#include <fmt/format.h>

#include <string>

#include "bench/research/mheta/program_model.h"
#include "bench/research/mheta/program_text.h"
#include "partition/cluster.h"

namespace hetsort::research::test {

/// `count` nodes of speed 1 with `fields` each.
inline std::string equal_nodes(int count, const std::string& fields = "") {
  return fmt::format("[[node]]\nspeed = 1\ncount = {}\n{}\n", count, fields);
}

inline ProgramModel model_of(const std::string& program, const std::string& cluster) {
  return program_model(parse_program(program, "p.toml"), partition::parse_cluster(cluster, "c.toml"));
}

/// Sections of one stage that takes a second for each row. `communication`: further fields of the section.
inline std::string one_section(const std::string& communication, const std::string& head = "") {
  return "rows = 100\n" + head + "\n[[section]]\nstage = [{ per_row = 1 }]\n" + communication + "\n";
}

}  // namespace hetsort::research::test
