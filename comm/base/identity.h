// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/base/types.h"

namespace hetsort::comm {

/// The program that this process runs. The build is the build ID that the linker computed from the program's contents,
/// or else a checksum of the executable file.
const ProgramIdentity& own_identity();

}  // namespace hetsort::comm
