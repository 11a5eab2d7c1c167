// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of records, as all phases of the sort know it.
//
// The folder order/ defines it. Here its names become names of the sort, with the limits that only a sort has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "order/key_prefix.h"
#include "order/line_keys.h"
#include "order/order.h"
#include "order/order_verifier.h"

namespace hetsort::sort {

using order::ChecksumSum;
using order::compare_bytes;
using order::count_lines;
using order::Element;
using order::FieldsPrefix;
using order::FixedRecords;
using order::key_prefix;
using order::key_text;
using order::KeyField;
using order::KeyKind;
using order::keys_are_read_inside;
using order::kMaxKeyBytes;
using order::kMaxKeyFields;
using order::kMaxRecordBytes;
using order::kPlaceBits;
using order::kPlaceMask;
using order::kPlannedLineBytes;
using order::kPrefixBytes;
using order::kReadableSlackBytes;
using order::kVerifyBatchBytes;
using order::LineKeys;
using order::MultisetDigest;
using order::Order;
using order::OrderVerifier;
using order::place_of;
using order::PlainPrefix;
using order::prefix_is_whole_key;
using order::prefix_mask;
using order::prefix_of;
using order::prefix_of_bytes;
using order::RecordLayout;
using order::WholeNumberPrefix;
using order::with_key_prefix;
using order::with_records;

/// Throws: RequestError for what mistake_in() finds.
void check_layout(const RecordLayout& layout);

}  // namespace hetsort::sort
