// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/shared/job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/program_options.hpp>

namespace hetsort::cli::test {
namespace {

TEST(Job, signs_of_life_come_several_times_within_the_stall_timeout) {
  for (const double timeout : {1.0, 2.5, 60.0}) {
    boost::program_options::options_description options;
    add_job_options(options);
    boost::program_options::variables_map values;
    const std::vector<std::string> words{"--stall-timeout", fmt::format("{}", timeout)};
    boost::program_options::store(boost::program_options::command_line_parser(words).options(options).run(), values);
    const comm::CommunicatorOptions communication = requested_job(values).communication;
    EXPECT_EQ(communication.stall_timeout_seconds, timeout);
    EXPECT_LE(communication.heartbeat_seconds, std::min(1.0, timeout / 4));
    EXPECT_GT(communication.heartbeat_seconds, 0.2);
  }
}

}  // namespace
}  // namespace hetsort::cli::test
