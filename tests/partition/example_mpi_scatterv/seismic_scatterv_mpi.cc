// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Seismic tomography after Genaud, Giersch, Vivien 2003: the root holds rays, every process traces its part. Their
// program divided the rays evenly with MPI_Scatter; here a plan gives the counts of an MPI_Scatterv instead.
//
//   mpirun -n 4 seismic_scatterv CLUSTER.toml RAYS
//
// Process i stands for the i-th node of the cluster file, modulo its nodes. Every process makes the same plan from the
// same file, so that counts need no exchange. Ranks keep their places; the root sends in rank order.
#include <hetsort/partition/cluster.h>
#include <hetsort/partition/plan.h>
#include <hetsort/partition/scatter.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace hp = hetsort::partition;

struct Ray {
  double source[2];
  double receiver[2];
};

/// Rays for each rank: the plan's counts in rank order. The root is the last rank, as the single-port model wants it.
std::vector<int> planned_counts(const std::string& path, std::int64_t rays, int ranks) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  hp::Cluster cluster = hp::parse_cluster(text.str(), path);
  hp::Cluster running;
  for (int rank = 0; rank < ranks; ++rank)
    running.nodes.push_back(cluster.nodes[static_cast<std::size_t>(rank) % cluster.nodes.size()]);
  const hp::Problem problem = hp::arrange_scatter(hp::problem_from_cluster(running, rays),
                                                  static_cast<std::size_t>(ranks - 1), hp::SendingOrder::kGiven);
  std::vector<int> counts;
  for (const hp::NodePlan& node : hp::make_plan(problem, "scatter-closed").nodes) {
    if (node.records > std::numeric_limits<int>::max()) throw std::runtime_error("too many rays for one message");
    counts.push_back(static_cast<int>(node.records));
  }
  return counts;
}

double trace(const std::vector<Ray>& rays) {
  double travel_time = 0;
  for (const Ray& ray : rays) travel_time += ray.receiver[0] - ray.source[0];
  return travel_time;
}

int run(const std::string& path, std::int64_t number_of_rays) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int root = ranks - 1;
  std::vector<Ray> all;
  if (rank == root) {
    all.resize(static_cast<std::size_t>(number_of_rays), Ray{{0, 0}, {1, 0}});
  }

  // Before: MPI_Scatter(all.data(), rays / ranks, ...), as if all processors were equal. Now:
  const std::vector<int> counts = planned_counts(path, number_of_rays, ranks);
  std::vector<int> offsets(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
  MPI_Datatype ray_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_DOUBLE, &ray_type);
  MPI_Type_commit(&ray_type);
  std::vector<Ray> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
  MPI_Scatterv(all.data(), counts.data(), offsets.data(), ray_type, mine.data(), static_cast<int>(mine.size()),
               ray_type, root, MPI_COMM_WORLD);
  MPI_Type_free(&ray_type);

  const double travel_time = trace(mine);
  double total = 0;
  MPI_Reduce(&travel_time, &total, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  if (rank == root) {
    std::cout << "rays a rank:";
    for (const int count : counts) std::cout << ' ' << count;
    std::cout << "\ntravel time of all rays: " << total << std::endl;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  try {
    if (argc != 3) throw std::runtime_error("usage: seismic_scatterv CLUSTER.toml RAYS");
    status = run(argv[1], std::atoll(argv[2]));
  } catch (const std::exception& error) {
    std::cerr << "seismic_scatterv: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return status;
}
