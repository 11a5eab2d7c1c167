// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// hetsort validate: judges whether records are in order, and counts and sums them.
#include "gen/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/options/command_line.h"
#include "cli/process/outcome.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/progress.h"
#include "comm/base/packing.h"
#include "io/field.h"
#include "io/file.h"
#include "io/publish.h"
#include "job/logged_sort.h"
#include "job/numpy_inputs.h"
#include "job/options/parse.h"
#include "job/options/record_options.h"
#include "job/request/named_files.h"
#include "job/resources.h"
#include "job/sort_options.h"
#include "sort/input/rank_path.h"
#include "sort/input/record_count.h"

namespace hetsort::cli {

namespace {

constexpr const char* kValidateUsage = R"(usage: hetsort validate [OPTION...] FILE...

Judges the records of the FILEs, taken as consecutive partitions of one output ("-": standard input), and reports as
the public validator, valsort 1.5. Exit status: 0 in order, 1 not in order, 2 it could not be judged. Under a launcher
{rank} in a FILE stands for each rank's own file; FILEs without it are divided among the ranks.

)";

constexpr int kExitInOrder = 0;
constexpr int kExitNotInOrder = 1;

struct ValidateRequest {
  gen::ValidateOptions how{};
  bool quiet = false;
  bool summaries = false;
  std::string summary_path{};
  std::vector<std::string> paths{};
  job::RecordRequest records{};
  std::optional<std::size_t> threads{};
  job::RankRequest ranks{};
  std::optional<ProgressStyle> progress{};
};

job::Options options_of(ValidateRequest& request) {
  const std::string of_benchmark = "is for summaries, which are of 100-byte records with key 0:10";
  const std::vector<job::Exclusion> records{
      {"record-size", of_benchmark}, {"key", of_benchmark}, {"reverse", of_benchmark}};
  std::vector<job::Exclusion> summaries = records;
  summaries.push_back({"header", "reads files of summaries, which have none"});
  job::Options options;
  options.add({.letter = 'q', .help = "no report, only the exit status", .fill = job::turn_on(request.quiet)});
  options.add({.letter = 'o',
               .value = "SUMMARY",
               .help = "write a summary of all FILEs, for -s",
               .excludes = records,
               .fill = job::take_path(request.summary_path, true)});
  options.add({.letter = 's',
               .help = "the FILEs hold summaries instead of records",
               .excludes = summaries,
               .fill = job::turn_on(request.summaries)});
  job::add_record_options(options, request.records);
  job::add_content_option(options, request.records);
  const std::string where_equal = "needs the records, because summaries do not say where keys are equal";
  options.add({.name = "unique",
               .letter = 'u',
               .help = "records with equal keys are not in order",
               .excludes = {{"s", where_equal}, {"o", where_equal}},
               .fill = job::turn_on(request.how.strict)});
  job::add_threads_option(options, request.threads);
  options.add({.letter = 'i',
               .help = "refused: the public validator's comparison without case",
               .fill = [](const std::string&, const std::string& what) {
                 throw UsageError(what + " is not supported: keys are compared as bytes");
               }});
  job::add_rank_options(options, request.ranks);
  add_progress_option(options, request.progress);
  options.add(help_option());
  return options;
}

/// Throws: UsageError.
void finish(ValidateRequest& request, const CommandLine& line) {
  request.paths = line.operands;
  if (request.paths.empty()) throw UsageError("validate wants a FILE; 'hetsort validate --help' explains");
  request.how.layout = job::layout_without_names(request.records);
  request.how.header.bytes = request.records.header_bytes;
  request.how.content = job::content_of(request.records, request.how.layout);
  request.how.content.use = io::ContentUse::kValidate;
  request.how.threads = static_cast<unsigned>(request.threads.value_or(0));
}

/// Judges what NumPy files hold, if the first file is one. Collective.
void take_numpy_files(ValidateRequest& request, comm::Communicator& ranks) {
  if (request.summaries) return;
  std::optional<job::NumpyInputs> found = job::numpy_inputs(request.paths, request.records, ranks);
  if (!found) return;
  request.how.layout = std::move(found->layout);
  request.how.header = std::move(found->header);
  request.how.content = {.refused = io::Refused::kNothing, .use = io::ContentUse::kValidate};
}

job::NamedFiles files_of(const ValidateRequest& request) {
  job::NamedFiles files;
  files.write(io::field("o"), request.summary_path);
  for (const std::string& path : request.paths) files.read("FILE", path);
  return files;
}

/// The place of a summary: nothing is written there before all records are judged.
class SummaryFile {
 public:
  /// Opens the place. Throws: io::Error if `path` cannot be written.
  explicit SummaryFile(const std::string& path) {
    if (path != "-") file_.emplace(path);
  }
  void write(const gen::Summary& summary) {
    const auto bytes = gen::encode_summary(summary);
    if (!file_) return io::standard_output().write(bytes);
    file_->file().write(bytes);
    file_->publish(true);
  }

 private:
  std::optional<io::OutputFile> file_;
};

/// A name that ends in a number.
struct NumberedName {
  std::string_view before;
  std::string_view digits;
};

NumberedName split_number(std::string_view name) {
  const std::size_t last_other = name.find_last_not_of("0123456789");
  const std::size_t at = last_other == name.npos ? 0 : last_other + 1;
  return {name.substr(0, at), name.substr(at)};
}

/// Prints a note where the shell's order of names, o.10 before o.2, is not that of their numbers.
void hint_at_order(const std::vector<std::string>& paths) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const NumberedName one = split_number(paths[i - 1]);
    const NumberedName next = split_number(paths[i]);
    const bool falls = one.digits.size() > next.digits.size() && !next.digits.empty() && !one.digits.starts_with('0');
    if (one.before != next.before || !falls) continue;
    return print_note(
        fmt::format("FILEs are judged in the order given, in which {} stands before {}", paths[i - 1], paths[i]));
  }
}

comm::Bytes pack(const gen::Summary& summary) {
  comm::Packer packer;
  for (const gen::Uint128 number :
       {summary.first_unordered, summary.unordered, summary.records, summary.duplicates, summary.checksum})
    packer.value(number);
  packer.value(summary.strict);
  packer.values(summary.first_key);
  packer.values(summary.last_key);
  packer.value(summary.first_record);
  packer.value(summary.last_record);
  return packer.take();
}

gen::Summary unpack(const comm::Bytes& bytes) {
  comm::Unpacker unpacker(bytes);
  gen::Summary summary;
  for (gen::Uint128* number :
       {&summary.first_unordered, &summary.unordered, &summary.records, &summary.duplicates, &summary.checksum})
    *number = unpacker.value<gen::Uint128>();
  summary.strict = unpacker.value<bool>();
  summary.first_key = unpacker.values<std::byte>();
  summary.last_key = unpacker.values<std::byte>();
  unpacker.raw(summary.first_record.data(), summary.first_record.size());
  unpacker.raw(summary.last_record.data(), summary.last_record.size());
  unpacker.end();
  return summary;
}

/// The files this rank judges: its own where paths hold {rank}, else its consecutive part of them.
std::vector<std::string> paths_of_rank(const std::vector<std::string>& paths, const comm::Communicator& ranks) {
  const auto own = static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), sort::is_rank_path));
  if (own != 0 && own != paths.size())
    throw UsageError("FILEs with and without {rank} cannot be mixed: their records would have no common order");
  std::vector<std::string> mine;
  if (own != 0) {
    for (const std::string& path : paths) mine.push_back(sort::rank_path(path, ranks));
    return mine;
  }
  if (ranks.size() > 1 && std::count(paths.begin(), paths.end(), "-") > 0)
    throw UsageError("several ranks cannot judge standard input; name the files");
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  return {paths.begin() + static_cast<std::ptrdiff_t>(paths.size() * rank / size),
          paths.begin() + static_cast<std::ptrdiff_t>(paths.size() * (rank + 1) / size)};
}

/// Judges this rank's part of the files, and joins it with the parts of all others. Collective.
gen::Summary judge(const ValidateRequest& request, comm::Communicator& ranks) {
  if (!ranks.launched())
    return request.summaries ? gen::join_summary_files(request.paths) : gen::validate_files(request.paths, request.how);
  const std::vector<std::string> paths = paths_of_rank(request.paths, ranks);
  gen::Summary mine;
  if (!paths.empty())
    mine = request.summaries ? gen::join_summary_files(paths) : gen::validate_files(paths, request.how);
  return unpack(ranks.all_reduce(pack(mine), [](const comm::Bytes& low, const comm::Bytes& high) {
    gen::Summary joined = unpack(low);
    joined.append(unpack(high));
    return pack(joined);
  }));
}

/// The bytes of all files that have a size, on all ranks. Collective.
std::uint64_t bytes_to_judge(const ValidateRequest& request, comm::Communicator& ranks) {
  std::uint64_t sum = 0;
  for (const std::string& path : ranks.launched() ? paths_of_rank(request.paths, ranks) : request.paths) {
    std::error_code none;
    const std::uintmax_t bytes = std::filesystem::file_size(path, none);
    if (!none) sum += bytes - std::min<std::uint64_t>(bytes, request.how.header.bytes);
  }
  return ranks.all_reduce_sum(sum);
}

/// Judges the files and shows the progress. Collective.
gen::Summary judge_with_progress(const ValidateRequest& request, comm::Communicator& ranks, sort::Monitor& monitor) {
  monitor.begin_phase("validate", 1);
  monitor.plan_work(bytes_to_judge(request, ranks));
  const ProgressPrinter progress(monitor, progress_form(request.progress, request.quiet, ranks));
  return judge(request, ranks);
}

}  // namespace

job::Options validate_options() {
  static ValidateRequest unused;
  return options_of(unused);
}

int validate_command(Arguments arguments) {
  ValidateRequest request;
  job::Options options = options_of(request);
  const CommandLine line = parse_command_line("validate", arguments, options);
  if (line.help) return print_once(line.shared, help_text(kValidateUsage, options));
  finish(request, line);
  sort::Monitor monitor;
  request.how.on_read = [&monitor](std::uint64_t bytes) { monitor.advance(bytes); };
  const std::unique_ptr<comm::Communicator> ranks = job::join_job(request.ranks);
  job::count_all_ranks(monitor, *ranks);
  const job::Outcome outcome = run_everywhere(*ranks, line.shared, [&] {
    const job::NamedFiles files = files_of(request);
    check_files(files, *ranks);
    if (const std::string note = files.rank_note(*ranks); !note.empty() && !request.quiet) print_note(note);
    if (ranks->rank() == 0 && !request.quiet) request.how.content.note = print_one_note();
    ranks->set_phase("validate");
    for (const std::string& path : request.paths)
      if (sort::is_forwarded(path))
        throw UsageError(fmt::format(
            "read {}: a launcher forwards it, and if the launcher dies the input looks complete although it is cut "
            "short; name a file",
            path == "-" ? "standard input" : path));
    take_numpy_files(request, *ranks);
    std::optional<SummaryFile> file;
    if (ranks->rank() == 0 && !request.summary_path.empty()) file.emplace(request.summary_path);
    const gen::Summary summary = judge_with_progress(request, *ranks, monitor);
    if (ranks->rank() == 0) {
      if (file) file->write(summary);
      if (!request.quiet) print_lines(summary.report());
      if (!request.quiet && !summary.in_order()) hint_at_order(request.paths);
    }
    return summary.in_order() ? kExitInOrder : kExitNotInOrder;
  });
  return report_outcome(outcome, *ranks);
}

}  // namespace hetsort::cli
