// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/check_lines.h"

#include <algorithm>
#include <vector>

#include "order/lines/line_order.h"
#include "sort/input/csv/columns.h"
#include "sort/input/input.h"
#include "sort/model/memory_plan.h"

namespace hetsort::sort {

std::optional<OrderVerifier::RecordPlace> find_disorder(const std::string& path, const SortOptions& options,
                                                        const io::ContentRules& content, std::uint64_t memory_bytes) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  InputOptions format = options.input;
  format.content = content;
  Input input({path}, input_format(options.layout, format), io::Access::kBuffered);
  input.look_at_streams(true);
  const std::uint64_t most = max_line_bytes(input.plan_decoders(memory_bytes, false));
  const RecordLayout layout = input.bind_columns(options.layout, format.header);
  OrderVerifier verifier(layout);
  verifier.keep_no_first_line();
  if (options.output.unique) verifier.forbid_equal_keys();
  std::vector<std::byte> piece(std::min<std::uint64_t>(kPieceBytes, most));
  while (verifier.in_order()) {
    const std::size_t got = input.read_stream(piece);
    if (got == 0) break;
    verifier.inspect(piece.data(), got);
    if (verifier.begun_line_bytes() >= most) input.refuse_long_line(verifier.whole_line_bytes(), most - 1);
  }
  std::optional<OrderVerifier::RecordPlace> place = verifier.first_disorder();
  if (!place) return place;
  place->byte += input.header_bytes();
  place->record += is_csv(layout) ? options.input.header.lines
                                  : static_cast<std::uint64_t>(std::ranges::count(input.header(), *input.terminator()));
  return place;
}

}  // namespace hetsort::sort
