// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The communicator's test harness under the names that the tests of the sort use.
#pragma once

#include "tests/comm/harness.h"

namespace hetsort::sort::test {

using comm::test::has_first_rank;
using comm::test::name_of;
using comm::test::on_ranks;
using comm::test::path_for_all;
using comm::test::pattern;
using comm::test::ranks_for;
using comm::test::run_once;
using comm::test::Setting;
using comm::test::setting_name;
using comm::test::settings;
using comm::test::wait_until;

}  // namespace hetsort::sort::test
