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

/// The layout of the request. Throws: RequestError, io::Error.
sort::RecordLayout requested_layout(const SortRequest& request) {
  if (!request.lines.lines) return layout_without_names(request.records);
  const LineOrdering ordering{.reverse = request.records.reverse,
                              .keeps_equal = request.phases.output.unique || request.stable};
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
    sort::RecordsToShare units{bytes.records / unit, bytes.input};
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

}  // namespace

SortJob sort_job_of(const SortRequest& request) {
  SortJob job{.options = request.phases, .planner = {}};
  sort::SortOptions& options = job.options;
  options.input.paths = requested_inputs(request);
  options.input.header = {request.records.header_bytes, request.lines.header_lines, request.lines.comment, {}, {}};
  options.layout = requested_layout(request);
  options.input.content = content_of(request.records, options.layout);
  check_output_names(options.output);
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
  files.read(io::field("cluster"), request.shares.cluster_path);
  files.read(io::field("plan"), request.shares.plan_path);
  for (const std::string& input : job.options.input.paths) files.add("INPUT", input, Purpose::kInput);
  if (job.options.input.paths.empty()) files.add("INPUT", "-", Purpose::kInput);
  return files;
}

bool reads_standard_input(const sort::SortOptions& options) {
  return options.input.paths.empty() || std::count(options.input.paths.begin(), options.input.paths.end(), "-") > 0;
}

void resolve(SortJob& job, const SortRequest& request, comm::Communicator& ranks) {
  sort::SortOptions& options = job.options;
  take_numpy_inputs(options, request, ranks);
  const Resources resources = resources_of(request.resources, options.output.paths, ranks);
  options.spill.directories_given = resources.temp_given;
  options.spill.directories = resources.temp_directories;
  options.memory_bytes = resources.memory_bytes;
  options.threads = resources.threads;
  job.resources_note = resources.note;
  if (!request.shares.learn_path.empty()) job.curves.emplace(request.shares.learn_path, ranks);
  if (const auto lines = options.layout.lines; lines && lines->is_random()) {
    const std::uint64_t seed = ranks.all_gather(lines->random_seed()).front();
    options.layout.lines = std::make_shared<const order::LineOrder>(lines->with_seed(seed));
  }
  const std::uint64_t planned_bytes = options.layout.planned_bytes();
  job.planner = rank_planner(request.shares, ranks,
                             {.record_bytes = planned_bytes,
                              .measures = true,
                              .root_sends = options.input.root_only || reads_standard_input(options),
                              .curves = job.curves,
                              .synced = options.output.sync,
                              .memory = SortMemory{resources.memory_bytes, resources.memory_given}});
  const std::uint64_t unit = planned_bytes / options.layout.record_bytes;
  options.shares.output = in_units(job.planner.output, unit);
  options.shares.input = in_units(job.planner.input, unit);
  options.shares.output_by_rates = job.planner.by_rates;
}

}  // namespace hetsort::job
