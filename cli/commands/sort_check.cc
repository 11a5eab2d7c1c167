// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/sort_check.h"

#include <fmt/format.h>

#include "cli/options/command_line.h"
#include "cli/terminal/messages.h"
#include "gen/validate.h"
#include "job/numpy_inputs.h"
#include "job/resources.h"
#include "sort/input/check_lines.h"

namespace hetsort::cli {

namespace {

const char* name_of(const std::string& path) { return path == "-" ? "standard input" : path.c_str(); }

int check_lines(const sort::SortOptions& options, const std::string& path, const io::ContentRules& content,
                std::uint64_t memory_bytes, OrderCheck check) {
  const auto disorder = sort::find_disorder(path, options, content, memory_bytes);
  if (!disorder) return 0;
  const char* const name = options.layout.record_name();
  if (check == OrderCheck::kReport)
    print_message(fmt::format("check {}: {} {} at offset {} is {} the {} before it", name_of(path), name,
                              disorder->record + 1, disorder->byte, options.output.unique ? "not above" : "below",
                              name));
  return kExitDisorder;
}

}  // namespace

void require_one_input(const std::vector<std::string>& inputs, OrderCheck check) {
  if (inputs.size() > 1)
    throw UsageError(fmt::format("{} checks one INPUT, and '{}' is a second one; 'hetsort validate' checks several",
                                 check == OrderCheck::kReport ? "-c" : "-C", inputs[1]));
}

int check_order(sort::SortOptions options, const OrderCheckRequest& request, comm::Communicator& ranks) {
  if (ranks.size() > 1)
    throw UsageError("-c checks one INPUT in one process; 'hetsort validate' checks files on several ranks");
  job::take_numpy_inputs(options, request.request, ranks);
  const std::string path = options.input.paths.empty() ? "-" : options.input.paths.front();
  io::ContentRules content = options.input.content;
  content.use = io::ContentUse::kCheck;
  if (request.check == OrderCheck::kReport && !request.quiet) content.note = print_one_note();
  const job::Resources resources = job::resources_of(request.request.resources, {}, ranks);
  if (options.layout.is_lines()) return check_lines(options, path, content, resources.memory_bytes, request.check);
  const gen::Summary summary = gen::validate_files({path}, {.layout = options.layout,
                                                            .header = options.input.header,
                                                            .content = content,
                                                            .strict = options.output.unique,
                                                            .memory_bytes = resources.memory_bytes,
                                                            .threads = static_cast<unsigned>(resources.threads)});
  if (summary.in_order()) return 0;
  if (request.check == OrderCheck::kReport) {
    const std::uint64_t number = gen::low_half(summary.first_unordered);
    const io::HeaderRule& header = options.input.header;
    const std::uint64_t header_bytes =
        header.is_numpy() ? io::read_header(io::File::open_read(path), false, header).bytes : header.bytes;
    print_message(fmt::format("check {}: record {} at offset {} is {} the record before it", name_of(path), number + 1,
                              header_bytes + number * options.layout.record_bytes,
                              options.output.unique ? "not above" : "below"));
  }
  return kExitDisorder;
}

}  // namespace hetsort::cli
