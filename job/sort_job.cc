// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "job/sort_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <utility>

#include "io/checksum/checksum.h"
#include "io/field.h"
#include "io/file.h"
#include "job/agreement.h"
#include "job/numpy_inputs.h"
#include "job/options/line_options.h"
#include "job/options/record_options.h"
#include "job/request/request_error.h"
#include "job/resources.h"
#include "job/shares/plan_input.h"
#include "order/lines/line_order.h"
#include "sort/input/rank_path.h"

namespace hetsort::job {

namespace {

/// Collects the names of a file, each ended by a zero byte. What is no list of names is found early.
class NameList {
 public:
  explicit NameList(const std::string& path) : path_(path) {}

  void append(std::string_view bytes) {
    constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
    read_bytes_ += bytes.size();
    if (read_bytes_ > kMaxBytes) refuse(fmt::format("more than {} bytes of names", kMaxBytes));
    while (!bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\0'), bytes.size());
      begun_ += bytes.substr(0, end);
      if (begun_.size() >= PATH_MAX)
        refuse(fmt::format("name number {} is longer than {} bytes", names_.size() + 1, PATH_MAX - 1));
      if (end == bytes.size()) return;
      add();
      bytes.remove_prefix(end + 1);
    }
  }
  std::vector<std::string> take() {
    if (!begun_.empty()) add();
    if (names_.empty()) refuse("it has no names");
    return std::move(names_);
  }

 private:
  void add() {
    if (begun_.empty()) refuse(fmt::format("name number {} is empty", names_.size() + 1));
    names_.push_back(std::exchange(begun_, {}));
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw RequestError(fmt::format("{} {}: {}", io::field("files0_from"), path_, reason));
  }

  const std::string& path_;
  std::size_t read_bytes_ = 0;
  std::string begun_;
  std::vector<std::string> names_;
};

/// The names in `path` ("-" = standard input), each ended by a zero byte.
std::vector<std::string> names_in(const std::string& path) {
  if (path == "-" && is_one_of_many())
    throw RequestError(fmt::format("{} -: only one rank has standard input; name a file", io::field("files0_from")));
  const io::File file = path == "-" ? io::standard_input() : io::File::open_read(path);
  NameList list(path);
  std::array<std::byte, 4096> part{};
  for (std::size_t got = 0; (got = file.read(part)) > 0;)
    list.append({reinterpret_cast<const char*>(part.data()), got});
  std::vector<std::string> names = list.take();
  if (std::count(names.begin(), names.end(), "-") > (path == "-" ? 0 : 1))
    throw RequestError("standard input ('-') can be read only once");
  return names;
}

std::vector<std::string> requested_inputs(const SortRequest& request) {
  if (request.names_path.empty()) return request.phases.input.paths;
  if (!request.phases.input.paths.empty())
    throw RequestError(fmt::format("{} excludes other INPUTs, such as '{}'", io::field("files0_from"),
                                   request.phases.input.paths.front()));
  return names_in(request.names_path);
}

/// Checks the outputs of the request. Throws: RequestError.
void check_output_names(const sort::OutputOptions& output) {
  constexpr std::size_t kMaxOutputs = 64;  // a process can remove as many unpublished names after a signal
  const std::vector<std::string>& paths = output.paths;
  if (std::count(paths.begin(), paths.end(), "") > 0) throw RequestError(io::field("output") + " wants a path");
  if (paths.size() == 1) return;
  if (paths.size() > kMaxOutputs)
    throw RequestError(
        fmt::format("{} names {} OUTPUTs; a rank has {} at most", io::field("output"), paths.size(), kMaxOutputs));
  if (std::count(paths.begin(), paths.end(), "-") > 0)
    throw RequestError(io::field("output") + " -: standard output cannot be one of several OUTPUTs");
  if (output.unique)
    throw RequestError(fmt::format("{} writes one OUTPUT from front to back, and '{}' is a second one",
                                   io::field("unique"), paths[1]));
}

/// The seed of random orders: what the first bytes of a file decide, or the system. Throws: io::Error, RequestError.
std::uint64_t random_seed(const std::string& path) {
  if (path.empty()) {
    std::random_device system;
    return std::uint64_t{system()} << 32 | system();
  }
  std::array<std::byte, 4096> first{};
  const std::size_t size = io::File::open_read(path).read(first);
  if (size == 0) throw RequestError(fmt::format("{} {}: it is empty", io::field("random_source"), path));
  return io::fingerprint(std::span(first).first(size), size);
}

/// The words of a list: of each line what precedes the first tab. Null without a path. Throws: io::Error, RequestError.
std::shared_ptr<const order::WordList> listed_words(const std::string& path) {
  if (path.empty()) return nullptr;
  const std::string text = read_text_file(path);
  auto words = std::make_shared<order::WordList>();
  std::size_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view word = rest.substr(0, std::min(rest.find_first_of("\t\r\n"), end));
    ++line;
    if (!word.empty() && !words->add(word))
      throw RequestError(
          fmt::format("{} {}: line {} has '{}' a second time", io::field("order_list"), path, line, word));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (words->size() == 0) throw RequestError(fmt::format("{} {}: it has no words", io::field("order_list"), path));
  return words;
}

/// The layout of the request. Throws: RequestError, io::Error.
sort::RecordLayout requested_layout(const SortRequest& request) {
  if (!request.lines.lines) return layout_without_names(request.records);
  const LineOrdering ordering{.reverse = request.records.reverse,
                              .keeps_equal = request.phases.output.unique || request.stable,
                              .words = listed_words(request.lines.order_list)};
  sort::RecordLayout layout;
  layout.record_bytes = 1;
  order::LineOrder order(line_options_of(request.lines, ordering));
  if (order.is_random()) order = order.with_seed(random_seed(request.lines.random_source));
  layout.lines = std::make_shared<const order::LineOrder>(std::move(order));
  return layout;
}

/// Makes a plan of lines, which counts their bytes, from one that `plan` makes in units of `unit` bytes.
sort::PlanShares in_units(const sort::PlanShares& plan, std::uint64_t unit) {
  if (!plan) return plan;
  return [plan, unit](const sort::RecordsToShare& bytes) {
    sort::RecordsToShare units{bytes.records / unit, bytes.input, bytes.input_cached, bytes.writes_directly};
    for (std::uint64_t& each : units.input) each /= unit;
    if (!units.input.empty()) units.records = std::reduce(units.input.begin(), units.input.end());
    sort::Shares shares = plan(units);
    const auto scale = [&](std::vector<std::uint64_t>& parts, std::uint64_t whole) {
      for (std::uint64_t& part : parts) part *= unit;
      const std::uint64_t sum = std::reduce(parts.begin(), parts.end());
      if (!parts.empty()) *std::max_element(parts.begin(), parts.end()) += whole - sum;
    };
    scale(shares.records, bytes.records);
    scale(shares.input, bytes.records);
    std::vector<partition::NodePlan>& nodes = shares.plan.nodes;
    auto left = static_cast<std::int64_t>(bytes.records);
    for (partition::NodePlan& node : nodes) left -= node.records *= static_cast<std::int64_t>(unit);
    if (!nodes.empty()) std::ranges::max_element(nodes, {}, &partition::NodePlan::records)->records += left;
    shares.plan.records = static_cast<std::int64_t>(bytes.records);
    return shares;
  };
}

/// Throws: RequestError.
void check_checkpoint(const SortRequest& request, const sort::RecordLayout& layout) {
  const sort::CheckpointOptions& checkpoint = request.phases.checkpoint;
  const std::string word = io::field("checkpoint");
  if (checkpoint.folders.empty() && checkpoint.restart)
    throw RequestError(fmt::format("{} begins a checkpoint anew: name its folder with {}", io::field("restart"), word));
  if (std::ranges::count(checkpoint.folders, "") > 0) throw RequestError(word + " wants a folder");
  if (!checkpoint.folders.empty() && layout.lines && layout.lines->is_random() && request.lines.random_source.empty())
    throw RequestError(fmt::format("{} of a random order needs {}: another order could not be continued", word,
                                   io::field("random_source")));
}

}  // namespace

SortJob sort_job_of(const SortRequest& request) {
  SortJob job{.options = request.phases, .planner = {}};
  sort::SortOptions& options = job.options;
  options.input.paths = requested_inputs(request);
  const bool csv = request.lines.csv.has_value();
  options.input.header = {.bytes = request.records.header_bytes,
                          .lines = request.lines.header_lines.value_or(csv ? 1 : 0),
                          .comment = request.lines.comment,
                          .csv = csv};
  options.layout = requested_layout(request);
  options.input.content = content_of(request.records, options.layout);
  check_output_names(options.output);
  check_checkpoint(request, options.layout);
  check_shares(request.shares);
  if (options.layout.lines && gives_shares(request.shares))
    throw RequestError(fmt::format("{} counts records: it is not for lines, which are shared by bytes",
                                   io::field(request.shares.shares.empty() ? "plan" : "shares")));
  return job;
}

NamedFiles files_of(const SortRequest& request, const SortJob& job) {
  using Purpose = NamedFiles::Purpose;
  NamedFiles files;
  for (const std::string& output : job.options.output.paths)
    files.add(output == "-" ? "standard output" : io::field("output"), output, Purpose::kOutput);
  files.write(io::field("report"), request.report_path);
  files.write(io::field("trace"), request.trace_path);
  files.write(io::field("learn"), request.shares.learn_path);
  if (request.shares.cluster_path != request.shares.learn_path)
    files.read(io::field("cluster"), request.shares.cluster_path);
  files.read(io::field("plan"), request.shares.plan_path);
  files.read(io::field("order_list"), request.lines.order_list);
  for (const std::string& input : job.options.input.paths) files.add("INPUT", input, Purpose::kInput);
  if (job.options.input.paths.empty()) files.add("INPUT", "-", Purpose::kInput);
  return files;
}

bool reads_standard_input(const sort::SortOptions& options) {
  return options.input.paths.empty() || std::count(options.input.paths.begin(), options.input.paths.end(), "-") > 0;
}

namespace {

/// Reads the file that the sort learns from and adds to. A cluster file becomes that of the request. Collective.
ShareRequest begin_to_learn(SortJob& job, const ShareRequest& request, comm::Communicator& ranks) {
  ShareRequest shares = request;
  if (request.learn_path.empty()) return shares;
  if (!learns_cluster(request.learn_path, ranks)) {
    job.curves.emplace(request.learn_path, ranks);
    return shares;
  }
  if (!request.speeds.empty())
    throw RequestError(
        fmt::format("{} and a cluster file for {} exclude each other", io::field("speeds"), io::field("learn")));
  if (!request.cluster_path.empty() && request.cluster_path != request.learn_path)
    throw RequestError(
        fmt::format("{} and {} name different cluster files: name the one that learns, or a file of curves",
                    io::field("cluster"), io::field("learn")));
  job.learned_cluster = shares.cluster_path = request.learn_path;
  return shares;
}

}  // namespace

void resolve(SortJob& job, const SortRequest& request, comm::Communicator& ranks) {
  sort::SortOptions& options = job.options;
  take_numpy_inputs(options, request, ranks);
  const Resources resources = resources_of(request.resources, options.output.paths, ranks);
  options.spill.directories_given = resources.temp_given;
  options.spill.directories = resources.temp_directories;
  if (!options.checkpoint.folders.empty()) {
    options.spill.directories = sort::rank_paths(options.checkpoint.folders, ranks);
    options.spill.directories_given = true;
  }
  options.memory_bytes = resources.memory_bytes;
  options.threads = resources.threads;
  job.resources_note = resources.note;
  const ShareRequest shares = begin_to_learn(job, request.shares, ranks);
  if (const auto lines = options.layout.lines; lines && lines->is_random()) {
    const std::uint64_t seed = ranks.all_gather(lines->random_seed()).front();
    options.layout.lines = std::make_shared<const order::LineOrder>(lines->with_seed(seed));
  }
  const std::uint64_t planned_bytes = options.layout.planned_bytes();
  job.planner = rank_planner(shares, ranks,
                             {.record_bytes = planned_bytes,
                              .measures = true,
                              .root_sends = options.input.root_only || reads_standard_input(options),
                              .curves = job.curves,
                              .synced = options.output.sync,
                              .layout = options.layout,
                              .memory = SortMemory{resources.memory_bytes, resources.memory_given}});
  const std::uint64_t unit = planned_bytes / options.layout.record_bytes;
  options.shares.output = in_units(job.planner.output, unit);
  options.shares.input = in_units(job.planner.input, unit);
  options.shares.output_by_rates = job.planner.by_rates;
}

}  // namespace hetsort::job
