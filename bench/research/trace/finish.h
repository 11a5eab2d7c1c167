// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a traced program: the calls of all ranks come together on rank 0, which writes the two files.
#pragma once

namespace hetsort::research::trace {

/// Measures messages, gathers what all ranks recorded, and writes PREFIX-program.toml and PREFIX-cluster.toml. A
/// problem becomes a message on standard error; the program does not fail for it. Requires: MPI runs. Collective.
void finish_trace();

}  // namespace hetsort::research::trace
