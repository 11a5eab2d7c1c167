// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The library for C++, as a program without MPI uses it.
#include <gtest/gtest.h>
#include <hetsort/sort.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <locale>
#include <memory>
#include <random>
#include <thread>

#include "tests/io/scratch.h"

namespace hetsort::lib::test {

namespace {

using io::test::Scratch;

std::string random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string sorted_records(const std::string& bytes, std::size_t record_bytes, std::size_t key_bytes) {
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size(); at += record_bytes) records.push_back(bytes.substr(at, record_bytes));
  std::ranges::stable_sort(records, [&](const std::string& a, const std::string& b) {
    return std::memcmp(a.data(), b.data(), key_bytes) < 0;
  });
  std::string all;
  for (const std::string& record : records) all += record;
  return all;
}

/// The error of a call; fails the test if there is none.
template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {"", {}};
}

struct Particle {
  std::uint64_t cell = 0;
  double mass = 0;
  std::uint64_t number = 0;

  bool operator==(const Particle&) const = default;
};

std::vector<Particle> random_particles(std::size_t count) {
  std::mt19937_64 random(3);
  std::vector<Particle> particles(count);
  // All bytes of the number differ between particles, so that a byte out of place shows.
  for (std::size_t i = 0; i < count; ++i)
    particles[i] = {random() % 100, static_cast<double>(random() % 7) - 3, (i + 1) * 0x9E3779B97F4A7C15U};
  return particles;
}

std::vector<std::string> by_cell_and_falling_mass() {
  return {key<std::uint64_t>(offsetof(Particle, cell)), key<double>(offsetof(Particle, mass), kDescending)};
}

}  // namespace

TEST(LibraryFiles, are_sorted_as_by_the_program) {
  const Scratch folder;
  const std::string bytes = random_bytes(100 * 5000);
  write_file(folder / "in", bytes);
  const SortResult result = sort_files({.inputs = {folder / "in"}, .output = folder / "out"});
  EXPECT_EQ(read_file(folder / "out"), sorted_records(bytes, 100, 10));
  EXPECT_EQ(result.records, 5000U);
  EXPECT_EQ(result.bytes, bytes.size());
  EXPECT_NE(result.report.find("hetsort.run/1"), std::string::npos);
}

TEST(LibraryFiles, larger_than_memory_spill) {
  const Scratch folder;
  const std::string bytes = random_bytes(16 << 20);
  write_file(folder / "in", bytes);
  const SortResult result = sort_files({.inputs = {folder / "in"},
                                        .output = folder / "out",
                                        .layout = Layout{32, {"0:8"}},
                                        .resources = {.memory = "8M", .threads = 2},
                                        .temp = {folder.path()}});
  EXPECT_EQ(read_file(folder / "out"), sorted_records(bytes, 32, 8));
  EXPECT_GT(result.spilled_bytes, 0U);
}

TEST(LibraryFiles, take_every_option_of_the_program) {
  const Scratch folder;
  write_file(folder / "in", "b 2\na 10\nc 2\n");
  static_cast<void>(
      sort_files({.inputs = {folder / "in"}, .output = folder / "out", .more = {"-k", "2,2n", "--unique"}}));
  EXPECT_EQ(read_file(folder / "out"), "b 2\na 10\n");
  static_cast<void>(sort_files({.inputs = {folder / "in"},
                                .output = folder / "out",
                                .more = {"--lines", "--output", folder / "second", "--output", folder / "third"}}));
  EXPECT_EQ(read_file(folder / "out") + "|" + read_file(folder / "second") + "|" + read_file(folder / "third"),
            "a 10\n|b 2\n|c 2\n");
}

TEST(LibraryFiles, are_sorted_by_what_earlier_sorts_have_learned) {
  const Scratch folder;
  write_file(folder / "in", random_bytes(1000));
  sort_files({.inputs = {folder / "in"}, .output = folder / "out", .more = {"--learn", folder / "curves"}});
  EXPECT_NE(read_file(folder / "curves"), "");
}

TEST(LibraryFiles, are_sorted_alike_in_a_program_whose_streams_write_a_decimal_comma) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Scratch folder;
  write_file(folder / "in", "1.5\n1.25\n1,75\n12345.5\n2.5\n");
  const std::shared_ptr<void> end(nullptr, [](void*) { std::locale::global(std::locale::classic()); });
  std::locale::global(std::locale(std::locale::classic(), new Comma));
  const SortResult result = sort_files({.inputs = {folder / "in"},
                                        .output = folder / "out",
                                        .resources = {.memory = "12345K", .threads = 2},
                                        .speeds = {1.5},
                                        .more = {"--general-numeric-sort", "--stall-timeout", "1234.5"}});
  EXPECT_EQ(read_file(folder / "out"), "1,75\n1.25\n1.5\n2.5\n12345.5\n");
  EXPECT_EQ(result.bytes, 26U);
  EXPECT_NE(result.report.find("\"memory_limit_bytes\":12641280"), std::string::npos) << result.report;
}

TEST(LibraryErrors, of_a_file_name_operation_path_and_reason) {
  const Scratch folder;
  const Error error = error_of([&] { sort_files({.inputs = {folder / "missing"}, .output = folder / "out"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kFile);
  EXPECT_EQ(error.rank(), 0);
  EXPECT_EQ(error.operation(), "open");
  EXPECT_EQ(error.path(), folder / "missing");
  EXPECT_EQ(error.reason(), "No such file or directory");
  EXPECT_TRUE(folder.names().empty());
}

TEST(LibraryErrors, of_a_request_come_before_any_file_is_touched) {
  const Scratch folder;
  write_file(folder / "in", random_bytes(1000));
  const auto sort_with = [&](SortFiles request) {
    request.inputs = {folder / "in"};
    request.output = folder / "out";
    return error_of([&] { sort_files(request); });
  };
  EXPECT_EQ(sort_with({.inputs = {}, .output = "", .layout = Layout{100, {"0:u65"}}}).kind(), ErrorKind::kRequest);
  EXPECT_EQ(sort_with({.inputs = {}, .output = "", .layout = Layout{8, {"4:u64"}}}).kind(), ErrorKind::kRequest);
  EXPECT_EQ(sort_with({.inputs = {}, .output = "", .strategy = "none"}).kind(), ErrorKind::kRequest);
  EXPECT_EQ(sort_with({.inputs = {}, .output = "", .more = {"--frobnicate"}}).kind(), ErrorKind::kRequest);
  EXPECT_EQ(sort_with({.inputs = {}, .output = "", .cluster = folder / "missing"}).path(), folder / "missing");
  EXPECT_EQ(error_of([&] { sort_files({.inputs = {}, .output = folder / "out"}); }).reason(), "no input is named");
  const std::string in = folder / "in";
  EXPECT_EQ(error_of([&] { sort_files({.inputs = {in}, .output = ""}); }).reason(), "no output is named");
  const std::string cut = in + '\0' + "behind";
  EXPECT_NE(error_of([&] { sort_files({.inputs = {cut}, .output = folder / "out"}); }).reason().find("a zero byte"),
            std::string::npos);
  EXPECT_EQ(folder.names(), std::set<std::string>{"in"});
}

TEST(LibraryErrors, name_what_the_caller_can_set_and_no_option_of_the_program) {
  const Scratch folder;
  write_file(folder / "in", random_bytes(10));
  const auto reason_with = [&](SortFiles request) {
    request.inputs = {folder / "in"};
    request.output = folder / "out";
    return error_of([&] { sort_files(request); }).reason();
  };
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .resources = {.memory = "0"}}),
            "'memory' wants more than no memory");
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .resources = {.threads = 5000}}),
            "'threads' wants 1 to 1024, not 5000");
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .speeds = {1}, .cluster = "c"}),
            "'speeds' and 'cluster' exclude each other");
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .more = {"-uk2", "--header", "5"}}),
            "'line_key' is for lines: it excludes 'header'; use 'header_lines'");
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .more = {"in"}}), "'in' is no option");
  EXPECT_EQ(reason_with({.inputs = {}, .output = "", .more = {"--header"}}), "option 'header' wants a value");
  // From the sort itself.
  EXPECT_NE(reason_with({.inputs = {}, .output = ""}).find("give the size of a record with 'record_size'"),
            std::string::npos);
}

TEST(LibraryErrors, text_and_compressed_files_are_impossible_requests_unless_they_are_forced) {
  const Scratch folder;
  const std::string text(1000, 'x');
  const std::string archive = "PK\x03\x04" + random_bytes(996);
  write_file(folder / "text", text);
  write_file(folder / "archive", archive);
  write_file(folder / "out", "old");
  const Error of_text = error_of([&] { sort_files({.inputs = {folder / "text"}, .output = folder / "out"}); });
  EXPECT_EQ(of_text.kind(), ErrorKind::kRequest);
  EXPECT_EQ(of_text.path(), folder / "text");
  EXPECT_NE(of_text.reason().find("'lines' sorts lines"), std::string::npos) << of_text.reason();
  SortFiles request{.inputs = {folder / "archive"}, .output = folder / "out", .layout = Layout{}};
  EXPECT_EQ(error_of([&] { sort_files(request); }).kind(), ErrorKind::kRequest);
  EXPECT_EQ(read_file(folder / "out"), "old");
  request.more = {"--force-format"};
  static_cast<void>(sort_files(request));
  EXPECT_EQ(read_file(folder / "out"), sorted_records(archive, 100, 10));
  static_cast<void>(sort_files({.inputs = {folder / "text"}, .output = folder / "out", .layout = Layout{}}));
  EXPECT_EQ(read_file(folder / "out"), text);
}

TEST(LibraryErrors, headers_newer_than_the_library_are_refused) {
  const SortFiles request{.inputs = {"in"}, .output = "out", .header_version = version() + 1};
  EXPECT_NE(error_of([&] { sort_files(request); }).reason().find("older than the headers"), std::string::npos);
  std::vector<std::byte> records(100);
  const SortMemory in_memory{.layout = {}, .header_version = version() + 100};
  EXPECT_EQ(error_of([&] { sort_in_memory({}, records, records, in_memory); }).kind(), ErrorKind::kRequest);
}

TEST(LibraryControl, a_request_to_stop_ends_a_sort_of_files_and_leaves_nothing) {
  const Scratch folder;
  write_file(folder / "in", random_bytes(100 * 20'000));
  std::stop_source stop;
  stop.request_stop();
  const Error error = error_of(
      [&] { sort_files({.inputs = {folder / "in"}, .output = folder / "out"}, {}, {.stop = stop.get_token()}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCancelled);
  EXPECT_EQ(folder.names(), std::set<std::string>{"in"});
}

TEST(LibraryControl, a_request_to_stop_that_comes_after_publication_is_no_error) {
  const Scratch folder;
  const std::string bytes = random_bytes(100 * 1000);
  write_file(folder / "in", bytes);
  std::stop_source stop;
  const auto stop_late = [&](const Progress& now) {
    if (now.phase == "publish" && std::filesystem::exists(folder / "out")) stop.request_stop();
  };
  const SortResult result = sort_files({.inputs = {folder / "in"}, .output = folder / "out"}, {},
                                       {.stop = stop.get_token(), .progress = stop_late});
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_EQ(result.records, 1000U);
  EXPECT_EQ(read_file(folder / "out"), sorted_records(bytes, 100, 10));
}

TEST(LibraryControl, progress_reports_the_last_phase) {
  const Scratch folder;
  write_file(folder / "in", random_bytes(100 * 1000));
  std::string last;
  static_cast<void>(sort_files({.inputs = {folder / "in"}, .output = folder / "out"}, {},
                               {.progress = [&](const Progress& now) { last = now.phase; }}));
  EXPECT_EQ(last, "publish");
}

TEST(LibraryMemory, a_vector_is_sorted_in_place_and_stably) {
  for (const std::size_t count : {0, 1, 10, 100'000}) {
    std::vector<Particle> particles = random_particles(count);
    std::vector<Particle> expected = particles;
    std::ranges::stable_sort(expected, [](const Particle& a, const Particle& b) {
      return a.cell != b.cell ? a.cell < b.cell : a.mass > b.mass;
    });
    sort_in_memory({}, particles, by_cell_and_falling_mass());
    EXPECT_EQ(particles, expected) << count << " particles";
  }
}

TEST(LibraryMemory, may_overlap_with_that_of_the_result) {
  std::vector<Particle> particles = random_particles(3000);
  std::vector<Particle> expected(particles.begin(), particles.begin() + 2000);
  std::ranges::stable_sort(expected, {}, &Particle::cell);
  const std::span<Particle> all(particles);
  sort_in_memory({}, std::as_bytes(all.first(2000)), std::as_writable_bytes(all.last(2000)),
                 {.layout = {sizeof(Particle), {key<std::uint64_t>(offsetof(Particle, cell))}}});
  EXPECT_TRUE(std::ranges::equal(all.last(2000), expected));
}

TEST(LibraryMemory, stays_as_it_was_after_an_error) {
  std::vector<Particle> particles = random_particles(1000);
  const std::vector<Particle> before = particles;
  EXPECT_EQ(error_of([&] { sort_in_memory({}, particles, {"20:u64"}); }).kind(), ErrorKind::kRequest);
  EXPECT_EQ(error_of([&] { sort_in_memory({}, particles, by_cell_and_falling_mass(), 999); }).kind(),
            ErrorKind::kRequest);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(error_of([&] {
              sort_in_memory({}, particles, by_cell_and_falling_mass(), {}, {}, {.stop = stop.get_token()});
            }).kind(),
            ErrorKind::kCancelled);
  EXPECT_EQ(error_of([&] {
              std::vector<Particle> many = random_particles(200'000);
              sort_in_memory({}, many, by_cell_and_falling_mass(), {}, {.memory = "1M"});
            }).kind(),
            ErrorKind::kMemory);
  EXPECT_EQ(particles, before);
}

TEST(LibraryMemory, of_another_mpi_is_refused) {
  std::vector<Particle> particles = random_particles(10);
  const int communicator = 1;
  const Ranks ranks(&communicator, sizeof communicator, "Another MPI");
  const Error error = error_of([&] { sort_in_memory(ranks, particles, by_cell_and_falling_mass()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRequest);
  EXPECT_NE(error.reason().find("Another MPI"), std::string::npos) << error.reason();
}

}  // namespace hetsort::lib::test
