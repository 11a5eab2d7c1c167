// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/csv/quote_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "io/calls/buffer.h"
#include "io/error.h"
#include "sort/machine/pages.h"
#include "sort/machine/parallel.h"

namespace hetsort::sort {

namespace {

using order::CsvFault;
using order::CsvFormat;
using order::RowScanner;

/// Bytes that a thread reads at once: they stay in the second-level cache while their rows are checked.
constexpr std::uint64_t kScanBytes = std::uint64_t{1} << 20;
/// More threads would need more memory, but memory has no more bytes a second for them.
constexpr std::size_t kMaxScanThreads = 16;
static_assert(kScanBytes % QuoteMap::kBlockBytes == 0 && QuoteMap::kBlockBytes % kPageBytes == 0);

[[noreturn]] void refuse_row(const std::string& name, const CsvFault& fault, const CsvFormat& format) {
  const auto text = [&]() -> std::string {
    switch (fault.kind) {
      case CsvFault::Kind::kZeroByte:
        return "a zero byte, which CSV does not have";
      case CsvFault::Kind::kQuoteInField:
        return "a quote within a field that does not begin with one";
      case CsvFault::Kind::kTextBehindQuote:
        return fmt::format("text behind the closing quote of a field that begins in line {}", fault.quote_line + 1);
      case CsvFault::Kind::kNoEnd:
        return "the quoted field that begins here does not end";
      case CsvFault::Kind::kFewFields:
        return fmt::format("the row has {} field{}, and field {} is a key", fault.fields, fault.fields == 1 ? "" : "s",
                           format.least_fields);
    }
    return "";
  }();
  throw io::Error("read", name, fmt::format("line {}: {}", fault.line + 1, text));
}

/// What a scan of one chunk has found.
struct ChunkRows {
  std::uint64_t head_separators = 0;  ///< separators before the end of the first row
  std::uint64_t tail_separators = 0;  ///< separators behind the end of the last row
  bool has_row_end = false;
  bool has_begun_row = false;  ///< a row has begun that ends in a later chunk, or with the file
  bool is_faulty = false;
};

/// Consecutive chunks of a file, and what a scan of them has found.
struct FilePart {
  std::uint64_t first_chunk = 0;
  std::vector<ChunkRows> chunks{};
  std::vector<QuoteMap::Block> blocks{};
  bool has_odd_quotes = false;
};

/// Scans the chunks of a part with all threads.
class PartScan {
 public:
  /// `inside`: whether the part begins within quotes.
  PartScan(const QuoteMapRequest& request, FilePart& part, bool inside)
      : request_(request), part_(part), inside_(inside), began_inside_(inside) {
    const std::uint64_t first = part.first_chunk * kScanBytes;
    if (first <= request.begin) return;
    io::Buffer page(kPageBytes);
    const std::size_t got = request.file.read_at(page.span(), first - kPageBytes);
    if (got == kPageBytes) std::copy_n(page.data() + got - before_.size(), before_.size(), before_.begin());
  }

  void run() {
    const std::size_t threads =
        std::clamp<std::size_t>(part_.chunks.size(), 1, std::min(request_.threads, kMaxScanThreads));
    run_workers(threads, [&](std::size_t, const StopFlag& stop) {
      io::Buffer memory(kScanBytes);
      for (std::size_t chunk = next_++; chunk < part_.chunks.size(); chunk = next_++) scan(chunk, memory.span(), stop);
    });
    part_.has_odd_quotes = inside_ != began_inside_;
  }

 private:
  void scan(std::size_t chunk, std::span<std::byte> memory, const StopFlag& stop) {
    const std::uint64_t from = (part_.first_chunk + chunk) * kScanBytes;
    const std::uint64_t begin = std::max(from, request_.begin);
    const std::uint64_t end = std::min(from + kScanBytes, request_.end);
    const std::size_t got = request_.file.read_at(memory, from);
    if (from + got < end)
      throw io::Error("read", request_.file.name(),
                      fmt::format("ends at offset {}: truncated while it was read", from + got));
    const std::span<const std::byte> bytes = memory.subspan(begin - from, end - begin);
    RowScanner rows = scanner_of(chunk, bytes, stop);
    for (std::uint64_t at = begin; at < end;) {
      const std::uint64_t block_end = std::min(end, (at / QuoteMap::kBlockBytes + 1) * QuoteMap::kBlockBytes);
      QuoteMap::Block& block = part_.blocks[(at - part_.first_chunk * kScanBytes) / QuoteMap::kBlockBytes];
      const std::uint64_t hidden_before = rows.hidden_newlines();
      block.begins_inside = rows.inside();
      rows.scan(bytes.subspan(at - begin, block_end - at));
      block.hides_newlines = rows.hidden_newlines() > hidden_before;
      at = block_end;
    }
    part_.chunks[chunk] = {rows.head_separators(), rows.separators(), rows.has_row_end(), rows.has_begun_row(),
                           rows.fault().has_value()};
  }

  /// Waits until the chunk before was read, and passes the parity of the quotes on.
  RowScanner scanner_of(std::size_t chunk, std::span<const std::byte> bytes, const StopFlag& stop) {
    const bool is_odd = order::has_odd_quotes(bytes);
    std::unique_lock lock(mutex_);
    while (turn_ != chunk) {
      if (stop) throw Stopped{};
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
    const bool is_first = (part_.first_chunk + chunk) * kScanBytes <= request_.begin;
    const RowScanner rows = is_first ? RowScanner(request_.format) : RowScanner(request_.format, inside_, before_);
    inside_ ^= is_odd;
    for (const std::byte byte : bytes.last(std::min(bytes.size(), before_.size()))) before_ = {before_[1], byte};
    ++turn_;
    lock.unlock();
    changed_.notify_all();
    return rows;
  }

  const QuoteMapRequest& request_;
  FilePart& part_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;  // the chunk that takes the state below next
  bool inside_;
  bool began_inside_;
  std::array<std::byte, 2> before_{};
};

/// Whether rows may be malformed. An empty line that two chunks share counts as a row that has too few fields.
bool seem_malformed(std::span<const ChunkRows> chunks, const CsvFormat& format) {
  std::uint64_t separators = 0;  // of the row that is begun
  for (const ChunkRows& chunk : chunks) {
    if (chunk.is_faulty) return true;
    separators += chunk.head_separators;
    if (!chunk.has_row_end) continue;
    if (&chunk != &chunks.front() && separators + 1 < format.least_fields) return true;
    separators = chunk.tail_separators;
  }
  return !chunks.empty() && chunks.back().has_begun_row && separators + 1 < format.least_fields;
}

/// Scans the whole file with one thread. Throws: io::Error for the first row that is malformed.
void check_rows(const QuoteMapRequest& request) {
  io::Buffer memory(kScanBytes);
  std::uint64_t header_lines = 0;
  std::optional<CsvStream> rows;
  for (std::uint64_t from = 0; from < request.end; from += kScanBytes) {
    const std::size_t got = std::min<std::uint64_t>(request.file.read_at(memory.span(), from), request.end - from);
    const std::size_t skipped = std::min<std::uint64_t>(request.begin - std::min(from, request.begin), got);
    const std::span<std::byte> bytes = memory.span().first(got);
    header_lines += static_cast<std::uint64_t>(std::ranges::count(bytes.first(skipped), std::byte{'\n'}));
    if (skipped == got) continue;
    if (!rows) rows.emplace(request.file.name(), request.format, header_lines);
    rows->take(bytes.subspan(skipped));
  }
  if (rows) rows->finish();
}

/// This rank's part of the file.
FilePart file_part_of(const QuoteMapRequest& request, std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t chunks = (request.end + kScanBytes - 1) / kScanBytes;
  const std::uint64_t skipped = request.begin / kScanBytes;  // those of the header
  const auto border = [&](std::uint64_t number) { return skipped + (chunks - skipped) * number / ranks; };
  const std::uint64_t end = std::min(border(rank + 1) * kScanBytes, request.end);
  FilePart part{border(rank)};
  part.chunks.resize(border(rank + 1) - border(rank));
  if (!part.chunks.empty())
    part.blocks.resize((end - part.first_chunk * kScanBytes + QuoteMap::kBlockBytes - 1) / QuoteMap::kBlockBytes);
  return part;
}

template <typename T>
void join_parts(std::vector<T>& mine, comm::Communicator& ranks) {
  std::vector<T> all;
  for (const std::vector<T>& part : ranks.all_gather_lists(mine)) all.insert(all.end(), part.begin(), part.end());
  mine = std::move(all);
}

/// Scans the parts of all ranks: afterwards each rank has all chunks and blocks. Collective.
FilePart scan_with(comm::Communicator& ranks, const QuoteMapRequest& request) {
  FilePart part =
      file_part_of(request, static_cast<std::uint64_t>(ranks.rank()), static_cast<std::uint64_t>(ranks.size()));
  PartScan(request, part, false).run();
  const std::vector<std::uint8_t> odd = ranks.all_gather(static_cast<std::uint8_t>(part.has_odd_quotes ? 1 : 0));
  bool inside = false;
  for (int rank = 0; rank < ranks.rank(); ++rank) inside ^= odd[static_cast<std::size_t>(rank)] == 1;
  if (inside) PartScan(request, part, true).run();
  join_parts(part.chunks, ranks);
  join_parts(part.blocks, ranks);
  part.first_chunk = request.begin / kScanBytes;
  part.has_odd_quotes = std::ranges::count(odd, 1) % 2 == 1;
  return part;
}

}  // namespace

QuoteMap::QuoteMap(std::uint64_t begin, std::vector<Block> blocks)
    : begin_(begin),
      blocks_(std::move(blocks)),
      hides_newlines_(std::ranges::any_of(blocks_, [](const Block& block) { return block.hides_newlines; })) {}

void QuoteMap::hide(const io::File& file, std::uint64_t offset, std::span<std::byte> bytes) const {
  if (!hides_newlines_) return;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint64_t number = (offset + at) / QuoteMap::kBlockBytes;
    const std::size_t end = std::min<std::uint64_t>(bytes.size(), (number + 1) * QuoteMap::kBlockBytes - offset);
    const Block block = blocks_[number];
    const std::uint64_t begin = std::max(number * QuoteMap::kBlockBytes, begin_);
    if (block.hides_newlines) {
      bool inside = block.begins_inside;
      if (offset + at > begin) {
        io::Buffer memory(QuoteMap::kBlockBytes);
        const std::size_t got = file.read_at(memory.span(), number * QuoteMap::kBlockBytes);
        const std::size_t last = std::min<std::uint64_t>(got, offset + at - number * QuoteMap::kBlockBytes);
        const std::size_t first = std::min<std::uint64_t>(begin - number * QuoteMap::kBlockBytes, last);
        inside ^= order::has_odd_quotes(memory.span().subspan(first, last - first));
      }
      order::hide_newlines(bytes.subspan(at, end - at), inside);
    }
    at = end;
  }
}

std::shared_ptr<const QuoteMap> map_quotes(const QuoteMapRequest& request, comm::Communicator* ranks) {
  if (request.end <= request.begin)
    return std::make_shared<const QuoteMap>(request.begin, std::vector<QuoteMap::Block>());
  FilePart part;
  if (ranks != nullptr) {
    part = scan_with(*ranks, request);
  } else {
    part = file_part_of(request, 0, 1);
    PartScan(request, part, false).run();
  }
  const bool is_suspect = part.has_odd_quotes || seem_malformed(part.chunks, request.format);
  if (is_suspect && (ranks == nullptr || ranks->rank() == 0)) check_rows(request);
  if (is_suspect && ranks != nullptr) ranks->barrier();
  part.blocks.insert(part.blocks.begin(), part.first_chunk * (kScanBytes / QuoteMap::kBlockBytes), {});
  return std::make_shared<const QuoteMap>(request.begin, std::move(part.blocks));
}

void CsvStream::take(std::span<std::byte> bytes) {
  rows_.scan_and_hide(bytes);
  if (rows_.fault()) refuse_row(name_, *rows_.fault(), rows_.format());
}

void CsvStream::finish() {
  rows_.finish();
  if (rows_.fault()) refuse_row(name_, *rows_.fault(), rows_.format());
}

}  // namespace hetsort::sort
