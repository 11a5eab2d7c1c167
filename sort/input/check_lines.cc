// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/check_lines.h"

#include <vector>

#include "order/lines/line_order.h"
#include "sort/input/input.h"

namespace hetsort::sort {

std::optional<OrderVerifier::LinePlace> find_disorder(const std::string& path, const RecordLayout& layout, bool unique,
                                                      const io::ContentRules& content) {
  Input input({path}, input_format(layout, 0, content), io::Access::kBuffered);
  OrderVerifier verifier(layout);
  if (unique) verifier.forbid_equal_keys();
  std::vector<std::byte> piece(std::size_t{1} << 20);
  while (verifier.in_order()) {
    const std::size_t got = input.read_stream(piece);
    if (got == 0) break;
    verifier.inspect(piece.data(), got);
  }
  return verifier.first_disorder();
}

}  // namespace hetsort::sort
