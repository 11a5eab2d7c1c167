// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The cluster file, and the problem made of it.
#include "partition/cluster.h"
#include "partition/error.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

std::vector<std::string> seeds() {
  return {
      R"(start = 0.026
[[node]]
name = "caseb"
count = 2
speed = 2.0
compute = { kind = "linear", per_record = 4.629e-3 }
merge = { kind = "affine", start = 0.5, per_record = 1.0e-7 }
receive = { kind = "linear", per_record = 1.0e-5 }
memory = "8GiB"
disk_read = "500MB/s"
disk_write = "400MB/s"
bandwidth = "1gbit"
root = true
)",
      R"([[node]]
name = "a"
compute = { kind = "nlogn", coefficient = 1e-8, start = 0.1, per_record = 1e-7 }
[[node]]
name = "b"
compute = { kind = "power", coefficient = 1e-8, exponent = 1.1 }
[[node]]
name = "c"
compute = { kind = "table", points = [[1000, 0.001], [100000, 0.2], [1e6, 3]] }
[[node]]
name = "d"
compute = { kind = "step", per_record = 1e-7, memory_records = 1000000, io_step = 2 }
)",
      R"([[node]]
speed = 1
bandwidth_in = "100mbit"
bandwidth_out = "10MB/s"
memory = "50%"
latency = "200us"
)",
  };
}

std::vector<std::string> words() {
  return {"[[node]]\n",
          "count = ",
          "speed = ",
          "compute = ",
          "receive = ",
          "{ kind = \"table\", points = [",
          "[1, 1]",
          "[[[[[[[[[[[[[[[[[[[[",
          "{a={a={a={a=",
          "memory = \"",
          "TiB\"",
          "root = true\n",
          "\"\"\"",
          "#",
          "= ",
          "1e400",
          "0x7fffffffffffffff",
          "\\u0000",
          "1979-05-27T07:32:00Z",
          "\xef\xbb\xbf"};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  try {
    const partition::Cluster cluster = partition::parse_cluster(fuzz::test::text_of(data, size), "fuzz.toml");
    fuzz::test::require(!cluster.nodes.empty(), "a cluster without nodes");
    // Many nodes are no other code.
    if (cluster.nodes.size() > 1000) return 0;
    partition::validate(partition::problem_from_cluster(cluster, 1'000'000));
  } catch (const partition::PlanError&) {
  }
  return 0;
}
