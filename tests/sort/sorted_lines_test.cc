// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines of text on several ranks: in memory and spilled, with inputs and outputs of all kinds. The oracle sorts
// strings.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "order/lines/line_order.h"
#include "tests/sort/ranks.h"
#include "tests/sort/support.h"

namespace hetsort::sort::test {
namespace {

enum class LineFiles : std::uint8_t { kOwn, kShared, kOfRoot };

struct LinesJob {
  int ranks = 1;
  LineFiles files{};
  std::uint64_t memory_bytes = 0;
  bool numeric = false;
  bool unique = false;
  std::size_t volumes = 1;  ///< files of each rank's output
  bool csv = false;         ///< each line is the value of a quoted field, with newlines and quotes in it
  bool in_passes = false;   ///< merging threads have memory for two of the longest lines
};

void PrintTo(const LinesJob& job, std::ostream* stream) {
  constexpr std::array kFiles{"own", "shared", "root"};
  *stream << job.ranks << "_ranks_" << kFiles[static_cast<std::size_t>(job.files)] << "_files_"
          << (job.memory_bytes >> 20) << "_MiB" << (job.numeric ? "_numeric" : "") << (job.unique ? "_unique" : "");
  if (job.volumes > 1) *stream << "_into_" << job.volumes;
  if (job.csv) *stream << "_csv";
  if (job.in_passes) *stream << "_in_passes";
}

constexpr std::uint64_t kSmallMemory = std::uint64_t{3} << 20;
constexpr std::uint64_t kLargeMemory = std::uint64_t{64} << 20;

std::vector<LinesJob> all_lines_jobs() {
  std::vector<LinesJob> jobs;
  for (const int ranks : kSanitized ? std::vector{1, 3} : std::vector{1, 2, 3, 4})
    for (const LineFiles files : {LineFiles::kOwn, LineFiles::kShared, LineFiles::kOfRoot})
      for (const std::uint64_t memory : {kSmallMemory, kLargeMemory})
        for (const bool numeric : {false, true}) {
          jobs.push_back({ranks, files, memory, numeric, false});
          if (files != LineFiles::kOwn) jobs.push_back({ranks, files, memory, numeric, true});
          if (numeric == (memory == kSmallMemory))
            jobs.push_back({ranks, files, memory, numeric, files != LineFiles::kOwn, 1, true});
          if (files == LineFiles::kOwn && !numeric) jobs.push_back({ranks, files, memory, numeric, false, 3});
          if (ranks > 2) jobs.push_back({ranks, files, memory, numeric, files != LineFiles::kOwn, 1, false, true});
        }
  return jobs;
}

/// Lines of few or many different texts, some empty, a few longer than a block of the exchange or a piece of input.
std::vector<std::string> draw_lines(Dice& dice, std::size_t count, bool csv) {
  const std::string_view characters(csv ? "a\n\r\"\xff" : "ab \0\xff", 5);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = dice.number() % 2000 == 0 ? dice.number() % 300'000 : dice.number() % 24;
    std::string line =
        dice.number() % 3 == 0 ? "" : std::to_string(static_cast<std::int64_t>(dice.number() % 2000) - 1000);
    for (std::size_t at = 0; at < length; ++at) line += characters[dice.number() % characters.size()];
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string row_of(const std::string& value) {
  std::string row = "\"";
  for (const char c : value) row += c == '"' ? "\"\"" : std::string(1, c);
  return row + '"';
}

std::string text_of(const std::vector<std::string>& lines, const LinesJob& job, bool with_last_end = true) {
  std::string text;
  for (const std::string& line : lines) text += (job.csv ? row_of(line) : line) + '\n';
  if (!with_last_end && !text.empty()) text.pop_back();
  return text;
}

/// The number at the start of a line, as sort -n reads it.
long number_of(const std::string& line) { return std::strtol(line.c_str(), nullptr, 10); }

std::string expected_text(std::vector<std::string> lines, const LinesJob& job) {
  std::stable_sort(lines.begin(), lines.end(), [&](const std::string& a, const std::string& b) {
    if (job.csv && (a.empty() || b.empty())) return !a.empty();
    if (job.csv && job.numeric) return number_of(a) < number_of(b);
    if (!job.numeric || number_of(a) == number_of(b)) return !(job.numeric && job.unique) && a < b;
    return number_of(a) < number_of(b);
  });
  if (job.unique)
    lines.erase(std::unique(lines.begin(), lines.end(),
                            [&](const std::string& a, const std::string& b) {
                              if (job.csv && a.empty() != b.empty()) return false;
                              return job.numeric ? number_of(a) == number_of(b) : a == b;
                            }),
                lines.end());
  return text_of(lines, job);
}

/// Expects whole lines in each volume, and equal volumes but for a line.
void expect_equal_volumes_of_lines(const std::vector<std::string>& volumes) {
  constexpr std::size_t kLongestLine = 300'010;
  std::size_t smallest = SIZE_MAX;
  std::size_t largest = 0;
  for (const std::string& volume : volumes) {
    EXPECT_TRUE(volume.empty() || volume.ends_with('\n'));
    smallest = std::min(smallest, volume.size());
    largest = std::max(largest, volume.size());
  }
  EXPECT_LE(largest - smallest, 2 * kLongestLine);
}

RecordLayout layout_of(const LinesJob& job) {
  order::LineOptions options;
  if (job.numeric) options.style.kind = order::LineKeyKind::kNumber;
  options.last_resort = !job.unique && !job.csv;
  if (job.csv) {
    options.csv = true;
    options.separator = ',';
    options.keys.push_back({.last_field = 1});
  }
  RecordLayout layout;
  layout.record_bytes = 1;
  layout.lines = std::make_shared<const order::LineOrder>(options);
  return layout;
}

class SortedLines : public testing::TestWithParam<LinesJob> {
 protected:
  SortOptions options_of(const std::string& path, const std::string& temp) const {
    const LinesJob& job = GetParam();
    const bool own = job.files == LineFiles::kOwn;
    SortOptions options =
        sort_of_files({path + (own ? "/in.{rank}" : "/in")}, path + (own ? "/out.{rank}" : "/out"), layout_of(job));
    if (!own) options.input.paths.push_back(path + "/in2");
    options.input.root_only = job.files == LineFiles::kOfRoot;
    options.input.header.csv = job.csv;
    options.spill.directories = {temp};
    options.spill.compression = static_cast<io::SpillCompression>(test_seed() % 4);
    options.memory_bytes = job.memory_bytes;
    options.threads = 2;
    if (job.in_passes) options.hooks.held_line_bytes = 0;
    options.output.sync = false;
    options.output.unique = job.unique;
    options.output.paths = volume_names(options.output.paths.front(), job.volumes);
    return options;
  }
};

TEST_P(SortedLines, are_those_of_the_input_in_order) {
  SCOPED_TRACE(seed_note());
  const LinesJob& job = GetParam();
  if (ranks_for(job.ranks) != job.ranks) return;
  std::optional<Scratch> folder;
  std::vector<std::string> all;
  if (has_first_rank()) {
    folder.emplace();
    Dice dice(case_seed(static_cast<std::uint64_t>(job.ranks)));
    const std::size_t count = kSanitized ? 10'000 : 40'000;
    const bool own = job.files == LineFiles::kOwn;
    const int files = own ? job.ranks : 2;
    for (int file = 0; file < files; ++file) {
      std::vector<std::string> lines = draw_lines(dice, count / static_cast<std::size_t>(files), job.csv);
      // An empty line without its end is no line.
      if (file % 2 == 1) lines.back() += 'b';
      const std::string name = own ? "in." + std::to_string(file) : file == 0 ? "in" : "in2";
      std::ofstream(*folder / name, std::ios::binary) << text_of(lines, job, file % 2 == 0);
      all.insert(all.end(), lines.begin(), lines.end());
    }
  }
  const auto body = [&](comm::Communicator& ranks) {
    const Scratch temp;
    const std::string path = path_for_all(ranks.rank() == 0 ? folder->path() : "", ranks);
    Monitor monitor;
    RankResult result;
    sort_records(options_of(path, temp.path()), ranks, monitor, result);
    EXPECT_TRUE(result.in_memory || job.memory_bytes != kLargeMemory);
  };
  for (const machinery::RankEnd& end : run_once(job.ranks, test_seed(), {}, body)) {
    EXPECT_EQ(end.message, "");
    EXPECT_EQ(end.conclusion, "");
  }
  if (!folder) return;
  std::string written;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const std::string name = job.files == LineFiles::kOwn ? "out." + std::to_string(rank) : "out";
    std::vector<std::string> volumes;
    for (const std::string& volume : volume_names(name, job.volumes)) {
      std::ifstream file(*folder / volume, std::ios::binary);
      volumes.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    expect_equal_volumes_of_lines(volumes);
    for (const std::string& volume : volumes) written += volume;
    if (job.files != LineFiles::kOwn) break;
  }
  EXPECT_TRUE(written == expected_text(std::move(all), job));
}

/// Lines of nearly an eighth of the memory, the longest that are allowed, and short lines, of which rank 0 has many.
std::vector<std::string> draw_long_and_short_lines(Dice& dice, int rank, std::size_t long_lines, bool with_short) {
  std::vector<std::string> lines;
  for (std::size_t line = 0; line < long_lines && (rank > 0 || !with_short); ++line)
    lines.push_back(static_cast<char>('a' + 3 * line % 7) + std::string((kLargeMemory >> 3) - 2, 'x'));
  for (int line = 0; with_short && rank == 0 && line < 450'000; ++line)
    lines.push_back(std::to_string(dice.number()) + std::string(80, 'x'));
  return lines;
}

TEST(LongLines, that_leave_no_memory_for_their_merge_spill) {
  struct Job {
    std::size_t long_lines;
    bool with_short;
    bool keeps_first;  ///< whether rank 0 keeps its lines in memory
    bool keeps_others;
  };
  for (const Job& job : {Job{1, false, true, true}, Job{7, false, false, false}, Job{1, true, false, true}}) {
    SCOPED_TRACE(seed_note());
    std::optional<Scratch> folder;
    std::vector<std::string> all;
    if (has_first_rank()) {
      folder.emplace();
      for (int rank = 0; rank < ranks_for(2); ++rank) {
        Dice dice(case_seed(static_cast<std::uint64_t>(rank)));
        std::vector<std::string> lines = draw_long_and_short_lines(dice, rank, job.long_lines, job.with_short);
        std::ofstream(*folder / ("in." + std::to_string(rank)), std::ios::binary) << text_of(lines, {});
        std::ranges::move(lines, std::back_inserter(all));
      }
    }
    const auto body = [&](comm::Communicator& ranks) {
      const Scratch temp;
      const std::string path = path_for_all(ranks.rank() == 0 ? folder->path() : "", ranks);
      SortOptions options = sort_of_files({path + "/in.{rank}"}, path + "/out.{rank}", layout_of({}));
      options.spill.directories = {temp.path()};
      options.memory_bytes = kLargeMemory;
      options.output.sync = false;
      Monitor monitor;
      RankResult result;
      sort_records(options, ranks, monitor, result);
      EXPECT_EQ(result.in_memory, ranks.size() == 1 || (ranks.rank() == 0 ? job.keeps_first : job.keeps_others));
    };
    for (const machinery::RankEnd& end : run_once(2, test_seed(), {}, body)) EXPECT_EQ(end.message, "");
    if (!folder) continue;
    std::string written;
    for (int rank = 0; rank < ranks_for(2); ++rank) {
      const Bytes bytes = read_bytes(*folder / ("out." + std::to_string(rank)));
      written.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    EXPECT_TRUE(written == expected_text(std::move(all), {}));
  }
}

INSTANTIATE_TEST_SUITE_P(On, SortedLines, testing::ValuesIn(all_lines_jobs()), testing::PrintToStringParamName());

}  // namespace
}  // namespace hetsort::sort::test
