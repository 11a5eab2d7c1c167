// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/quantile_summary.h"

#include <algorithm>
#include <stdexcept>

#include "comm/base/packing.h"
#include "io/checked.h"

namespace hetsort::sort {

namespace {

/// The mark with bounds that also count the records of `other`; `at` is the number of other's marks before it.
SummaryMark bounded(const SummaryMark& mark, const QuantileSummary& other, std::size_t at) {
  SummaryMark result = mark;
  // other.marks[at - 1] <= mark < other.marks[at]
  if (at > 0) {
    const SummaryMark& below = other.marks[at - 1];
    const bool counts_itself = below.is_record && below.mark < mark.mark;
    result.fewest_before += below.fewest_before + (counts_itself ? 1 : 0);
  }
  result.most_before += at < other.marks.size() ? other.marks[at].most_before : other.records;
  if (at > 0 && other.marks[at - 1].mark == mark.mark)
    result.most_before = mark.most_before + other.marks[at - 1].most_before;
  return result;
}

// Numbers of a mark in a message, besides its key and kind: run, position, bounds.
constexpr std::size_t kMarkNumbers = 4;
// Numbers before the marks of a search: records before it, how marks are located, records, marks.
constexpr std::size_t kSearchNumbers = 4;

[[noreturn]] void refuse(const char* what) {
  throw std::runtime_error(std::string("a message between ranks is corrupt: ") + what);
}

/// Checks that marks ascend and that their bounds are possible: all further steps rely on it.
void check(const QuantileSummary& summary) {
  if (summary.records > io::kMaxTotalBytes) refuse("a summary of more records than there can be");
  for (std::size_t at = 0; at < summary.marks.size(); ++at) {
    const SummaryMark& mark = summary.marks[at];
    if (mark.fewest_before > mark.most_before || mark.most_before > summary.records)
      refuse("a mark has more records before it than there are");
    if (at > 0 && mark.mark < summary.marks[at - 1].mark) refuse("the marks of a summary do not ascend");
  }
}

}  // namespace

void QuantileSummary::thin(std::size_t most, double phase) {
  if (marks.size() <= most) return;
  const auto middle = [](const SummaryMark& mark) { return (mark.fewest_before + mark.most_before) / 2; };
  std::vector<SummaryMark> kept;
  kept.reserve(most + 1);
  std::size_t step = 0;
  for (std::size_t at = 0; at < marks.size(); ++at) {
    // The result has the last mark before each step, and the last mark of all.
    const bool last = at + 1 == marks.size();
    const double place = static_cast<double>(records) * (static_cast<double>(step) + phase) / static_cast<double>(most);
    if (!last && static_cast<double>(middle(marks[at + 1])) <= place) continue;
    const double reached = static_cast<double>(middle(marks[last ? at : at + 1]));
    kept.push_back(std::move(marks[at]));
    const double steps = reached * static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(1, records));
    step = std::max(step + 1, io::saturated(steps));
  }
  marks = std::move(kept);
}

QuantileSummary merge(const QuantileSummary& a, const QuantileSummary& b) {
  QuantileSummary merged;
  merged.records = a.records + b.records;
  merged.marks.reserve(a.marks.size() + b.marks.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.marks.size() || j < b.marks.size()) {
    if (j == b.marks.size() || (i < a.marks.size() && a.marks[i].mark < b.marks[j].mark)) {
      merged.marks.push_back(bounded(a.marks[i], b, j));
      ++i;
    } else if (i < a.marks.size() && a.marks[i].mark == b.marks[j].mark) {
      // Both summaries have a mark at this place; at most one of the two is a record.
      SummaryMark both = bounded(a.marks[i], b, j + 1);
      both.is_record |= b.marks[j].is_record;
      merged.marks.push_back(std::move(both));
      ++i;
      ++j;
    } else {
      merged.marks.push_back(bounded(b.marks[j], a, i));
      ++j;
    }
  }
  return merged;
}

void OpenRecords::add(const OpenRecords& other, std::size_t most_marks) {
  records_before += other.records_before;
  locates_cheaply &= other.locates_cheaply;
  summary = merge(summary, other.summary);
  summary.thin(most_marks);
}

std::size_t encoded_mark_bytes(std::size_t key_bytes) { return kMarkNumbers * sizeof(std::uint64_t) + 1 + key_bytes; }
std::size_t encoded_search_bytes() { return kSearchNumbers * sizeof(std::uint64_t); }

comm::Bytes encode(const std::vector<OpenRecords>& open, std::size_t key_bytes) {
  std::size_t marks = 0;
  for (const OpenRecords& one : open) marks += one.summary.marks.size();
  comm::Packer writer;
  writer.reserve(sizeof(std::uint64_t) + open.size() * encoded_search_bytes() + marks * encoded_mark_bytes(key_bytes));
  writer.number(open.size());
  for (const OpenRecords& one : open) {
    writer.number(one.records_before);
    writer.number(one.locates_cheaply ? 1 : 0);
    writer.number(one.summary.records);
    writer.number(one.summary.marks.size());
    for (const SummaryMark& mark : one.summary.marks) {
      for (const std::uint64_t number : {mark.mark.run, mark.mark.position, mark.fewest_before, mark.most_before})
        writer.number(number);
      writer.value(static_cast<std::uint8_t>(mark.is_record));
      if (key_bytes == kAnyKeyBytes)
        writer.text(mark.mark.key);
      else
        writer.raw(mark.mark.key.data(), key_bytes);
    }
  }
  return writer.take();
}

std::vector<OpenRecords> decode(const comm::Bytes& bytes, std::size_t key_bytes) {
  comm::Unpacker reader(bytes);
  std::vector<OpenRecords> open;
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    OpenRecords one;
    one.records_before = reader.number();
    one.locates_cheaply = reader.number() != 0;
    one.summary.records = reader.number();
    const std::uint64_t marks = reader.number();
    if (marks > reader.left() / encoded_mark_bytes(key_bytes))
      throw std::runtime_error("a message between ranks is too short");
    one.summary.marks.resize(marks);
    for (SummaryMark& mark : one.summary.marks) {
      mark.mark.run = reader.number();
      mark.mark.position = reader.number();
      mark.fewest_before = reader.number();
      mark.most_before = reader.number();
      mark.is_record = reader.value<std::uint8_t>() != 0;
      if (key_bytes == kAnyKeyBytes) {
        mark.mark.key = reader.text();
        continue;
      }
      mark.mark.key.resize(key_bytes);
      reader.raw(mark.mark.key.data(), key_bytes);
    }
    check(one.summary);
    open.push_back(std::move(one));
  }
  reader.end();
  return open;
}

}  // namespace hetsort::sort
