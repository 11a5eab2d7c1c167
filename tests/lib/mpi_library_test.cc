// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The library in an MPI program that has asked for no threads. Runs under mpirun with 1 to 4 ranks.
#include <gtest/gtest.h>
#include <hetsort/mpi.h>
#include <hetsort/sort.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace hetsort::lib::test {

namespace {

struct Particle {
  std::uint64_t cell = 0;
  double mass = 0;
  std::uint64_t number = 0;

  bool operator==(const Particle&) const = default;
};

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// Rank r has 100 + 3000 r particles, whose numbers say where they were.
std::vector<Particle> particles_of(int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::vector<Particle> particles(100 + 3000 * static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles[i] = {random() % 50, 1, static_cast<std::uint64_t>(rank) << 32 | i};
  return particles;
}

std::vector<Particle> sorted_particles(int ranks) {
  std::vector<Particle> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<Particle> some = particles_of(rank);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::stable_sort(all, {}, &Particle::cell);
  return all;
}

std::vector<std::string> by_cell() { return {key<std::uint64_t>(offsetof(Particle, cell))}; }

/// This rank's error as text, which must be that of all ranks; "" if there is none.
std::string error_of_all(const std::function<void()>& call) {
  std::string text;
  try {
    call();
  } catch (const Error& error) {
    text = std::to_string(static_cast<int>(error.kind())) + " " + std::to_string(error.rank()) + " " + error.what();
  }
  std::string first = text;
  first.resize(1000);
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_STREQ(first.c_str(), text.c_str());
  return text;
}

}  // namespace

TEST(LibraryMpi, particles_end_with_unequal_shares_in_order) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  const std::vector<Particle> all = sorted_particles(ranks);
  // Reversed: the last rank, which has most particles, ends with the fewest.
  const std::size_t share = particles_of(ranks - 1 - rank).size();
  std::size_t first = 0;
  for (int before = 0; before < rank; ++before) first += particles_of(ranks - 1 - before).size();
  std::vector<Particle> particles = particles_of(rank);
  sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell(), share);
  ASSERT_EQ(particles.size(), share);
  EXPECT_TRUE(std::equal(particles.begin(), particles.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
}

TEST(LibraryMpi, half_of_the_ranks_sort_while_the_others_do_something_else) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (rank % 2 == 0) {
    std::vector<Particle> particles = particles_of(rank_in(half));
    const std::size_t count = particles.size();
    sort_in_memory(ranks_of(half), particles, by_cell());
    EXPECT_EQ(particles.size(), count);
    EXPECT_TRUE(std::ranges::is_sorted(particles, {}, &Particle::cell));
  }
  MPI_Comm_free(&half);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(LibraryMpi, ranks_with_different_layouts_all_fail_and_keep_their_records) {
  const int rank = rank_in(MPI_COMM_WORLD);
  std::vector<Particle> particles = particles_of(rank);
  const std::vector<Particle> before = particles;
  const bool differs = rank == size_of(MPI_COMM_WORLD) - 1 && rank > 0;
  const std::string error = error_of_all(
      [&] { sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, {key<std::uint64_t>(differs ? 16 : 0)}); });
  if (size_of(MPI_COMM_WORLD) == 1) return;
  EXPECT_NE(error.find("option key"), std::string::npos) << error;
  EXPECT_EQ(particles, before);
}

TEST(LibraryMpi, a_mistake_of_one_rank_is_the_error_of_all) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  std::vector<Particle> particles = particles_of(rank);
  const std::vector<Particle> before = particles;
  std::string error =
      error_of_all([&] { sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, {rank == last ? "0:u65" : "0:u64"}); });
  EXPECT_NE(error.find("u65"), std::string::npos) << error;
  error = error_of_all([&] {
    sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell(), particles.size() + (rank == last ? 1 : 0));
  });
  EXPECT_NE(error.find("the shares of all ranks have"), std::string::npos) << error;
  EXPECT_EQ(particles, before);
}

TEST(LibraryMpi, a_share_without_memory_on_one_rank_is_the_error_of_all) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  std::vector<Particle> particles = particles_of(rank);
  const std::vector<Particle> before = particles;
  constexpr std::size_t kTooMany = std::size_t{1} << 55;
  const std::string error = error_of_all([&] {
    sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell(), rank == last ? kTooMany : particles.size());
  });
  EXPECT_NE(error.find("no memory for a share of 36028797018963968 records"), std::string::npos) << error;
  EXPECT_EQ(particles, before);
}

TEST(LibraryMpi, one_rank_cancels_the_sort_of_all) {
  std::vector<Particle> particles = particles_of(rank_in(MPI_COMM_WORLD));
  const std::vector<Particle> before = particles;
  std::stop_source stop;
  if (rank_in(MPI_COMM_WORLD) == 0) stop.request_stop();
  const std::string error = error_of_all(
      [&] { sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell(), {}, {}, {.stop = stop.get_token()}); });
  EXPECT_NE(error.find("cancelled"), std::string::npos) << error;
  EXPECT_EQ(error.substr(0, 2), "5 ");
  EXPECT_EQ(particles, before);
}

TEST(LibraryMpi, a_failure_after_the_exchange_is_that_of_all_and_changes_no_records) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  std::vector<Particle> particles = particles_of(rank);
  const std::vector<Particle> before = particles;
  std::stop_source stop;
  // The last report comes when this rank has sorted and proven its share.
  const auto stop_late = [&](const Progress& now) {
    if (rank == last && now.phase == "publish") stop.request_stop();
  };
  const std::string error = error_of_all([&] {
    sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell(), {}, {},
                   {.stop = stop.get_token(), .progress = stop_late});
  });
  EXPECT_EQ(error.substr(0, 4), "5 " + std::to_string(last) + " ") << error;
  EXPECT_EQ(particles, before);
}

TEST(LibraryMpi, files_are_sorted_by_all_ranks_and_an_error_has_the_rank_and_the_path) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int last = size_of(MPI_COMM_WORLD) - 1;
  std::string folder = std::filesystem::temp_directory_path() / "hetsort-library-XXXXXX";
  if (rank == 0) {
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  }
  MPI_Bcast(folder.data(), static_cast<int>(folder.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::vector<Particle> particles = particles_of(rank);
  std::ofstream(folder + "/in" + std::to_string(rank), std::ios::binary)
      .write(reinterpret_cast<const char*>(particles.data()),
             static_cast<std::streamsize>(particles.size() * sizeof(Particle)));
  SortFiles request{
      .inputs = {folder + "/in{rank}"}, .output = folder + "/out", .layout = Layout{sizeof(Particle), by_cell()}};
  const SortResult result = sort_files(request, ranks_of(MPI_COMM_WORLD));
  const std::vector<Particle> all = sorted_particles(last + 1);
  EXPECT_EQ(result.records, all.size());
  std::vector<Particle> found(all.size());
  std::ifstream(folder + "/out", std::ios::binary)
      .read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(found.size() * sizeof(Particle)));
  EXPECT_EQ(found, all);
  if (rank == last) std::filesystem::remove(folder + "/in" + std::to_string(rank));
  const std::string error = error_of_all([&] { sort_files(request, ranks_of(MPI_COMM_WORLD)); });
  EXPECT_EQ(error.substr(0, 4), "2 " + std::to_string(last) + " ") << error;
  EXPECT_NE(error.find("open " + folder + "/in" + std::to_string(last)), std::string::npos) << error;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(folder);
}

TEST(LibraryMpi, communicators_without_one_group_of_ranks_are_refused) {
  const auto refusal = [](MPI_Comm communicator) {
    try {
      std::vector<Particle> none;
      sort_in_memory(ranks_of(communicator), none, by_cell());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRequest);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(MPI_COMM_NULL), "the communicator is MPI_COMM_NULL");
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  EXPECT_NE(refusal(both).find("is an intercommunicator"), std::string::npos);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST(LibraryMpi, many_sorts_in_a_row_use_up_nothing) {
  for (int round = 0; round < 50; ++round) {
    std::vector<Particle> particles = particles_of(0);
    sort_in_memory(ranks_of(MPI_COMM_WORLD), particles, by_cell());
    ASSERT_TRUE(std::ranges::is_sorted(particles, {}, &Particle::cell));
  }
}

}  // namespace hetsort::lib::test

namespace {

/// Whether a sort fails with this reason where MPI does not run.
bool is_refused(const char* reason) {
  try {
    std::vector<hetsort::lib::test::Particle> none;
    hetsort::sort_in_memory(hetsort::ranks_of(MPI_COMM_WORLD), none, {"0:u64"});
    std::fputs("a sort without MPI did not fail\n", stderr);
    return false;
  } catch (const hetsort::Error& error) {
    return std::strstr(error.what(), reason) != nullptr;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (!is_refused("MPI is not running")) return 2;
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  MPI_Finalize();
  return is_refused("MPI has ended") ? status : 2;
}
