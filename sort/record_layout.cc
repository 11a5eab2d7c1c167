// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/record_layout.h"

#include <fmt/format.h>

#include "sort/request_error.h"

namespace hetsort::sort {

void check_layout(const RecordLayout& layout) {
  if (layout.record_bytes < 1 || layout.record_bytes > kMaxRecordBytes)
    throw RequestError(fmt::format("record size {} is not within 1 to {} bytes", layout.record_bytes, kMaxRecordBytes));
  if (layout.key_bytes < 1 || layout.key_bytes > kMaxKeyBytes)
    throw RequestError(fmt::format("key length {} is not within 1 to {} bytes", layout.key_bytes, kMaxKeyBytes));
  if (layout.key_offset > layout.record_bytes || layout.key_bytes > layout.record_bytes - layout.key_offset)
    throw RequestError(fmt::format("key {}:{} reaches beyond the {}-byte record", layout.key_offset, layout.key_bytes,
                                   layout.record_bytes));
}

}  // namespace hetsort::sort
