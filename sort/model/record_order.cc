// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/model/record_order.h"

#include "sort/failure/request_error.h"

namespace hetsort::sort {

void check_layout(const RecordLayout& layout) {
  const std::string mistake = order::mistake_in(layout);
  if (!mistake.empty()) throw RequestError(mistake);
}

}  // namespace hetsort::sort
