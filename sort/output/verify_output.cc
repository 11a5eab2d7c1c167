// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/verify_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "io/transfer/access.h"
#include "io/transfer/queue.h"
#include "order/lines/csv_rows.h"
#include "order/lines/line_order.h"
#include "sort/failure/proof_error.h"
#include "sort/machine/pages.h"
#include "sort/machine/parallel.h"
#include "sort/model/monitor.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

namespace {

/// While it lives, reads of a file come from the disk instead of the page cache, as far as the system allows it.
class PastPageCache {
 public:
  PastPageCache(const io::File& file, io::Access access) : file_(file) {
    const io::DirectIo direct = io::direct_io(file);
    const std::size_t alignment = std::max(direct.memory_alignment_bytes, direct.offset_alignment_bytes);
    if (access != io::Access::kBuffered && direct.possible && alignment <= kPageBytes && file.set_direct(true))
      backend_ = io::direct_backend(access);
    else
      static_cast<void>(::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED));
  }
  PastPageCache(const PastPageCache&) = delete;
  PastPageCache& operator=(const PastPageCache&) = delete;
  ~PastPageCache() { file_.set_direct(false); }

  io::Backend backend() const { return backend_; }

 private:
  const io::File& file_;
  io::Backend backend_ = io::Backend::kBuffered;
};

/// Reads consecutive records in pieces, with two blocks of memory: one is read while the other is checked.
class RangeReader {
 public:
  RangeReader(const io::File& file, const RecordLayout& layout, std::span<std::byte> memory)
      : file_(file),
        layout_(layout),
        memory_(memory),
        block_bytes_(memory.size() / kBlocks / kPageBytes * kPageBytes),
        piece_records_((block_bytes_ - 2 * kPageBytes - kReadableSlackBytes) / layout.record_bytes) {}

  /// The verifier of `records` records from `first_byte` on.
  OrderVerifier read(std::uint64_t first_byte, std::uint64_t records, io::Queue& queue, Monitor& monitor) {
    first_byte_ = first_byte;
    records_ = records;
    std::vector<OrderVerifier> pieces((records + piece_records_ - 1) / piece_records_, OrderVerifier(layout_));
    for (std::size_t block = 0; block < kBlocks; ++block) start(block, pieces.size(), queue);
    while (queue.in_flight() > 0) {
      const io::Completion completion = queue.wait();
      const std::uint64_t piece = in_block_[completion.tag];
      inspect(completion, pieces[piece]);
      monitor.advance(records_in(piece) * layout_.record_bytes);
      start(completion.tag, pieces.size(), queue);
    }
    OrderVerifier all(layout_);
    for (OrderVerifier& piece : pieces) all.append(std::move(piece));
    return all;
  }

  static constexpr std::size_t kBlocks = 2;

 private:
  std::uint64_t first_byte_of(std::uint64_t piece) const {
    return first_byte_ + piece * piece_records_ * layout_.record_bytes;
  }
  std::uint64_t records_in(std::uint64_t piece) const {
    return std::min<std::uint64_t>(piece_records_, records_ - piece * piece_records_);
  }
  std::byte* block(std::size_t number) const { return memory_.data() + number * block_bytes_; }

  /// Starts reading the next piece, if there is one, in whole pages.
  void start(std::size_t number, std::uint64_t pieces, io::Queue& queue) {
    if (next_piece_ == pieces) return;
    in_block_[number] = next_piece_++;
    const std::uint64_t from = first_byte_of(in_block_[number]);
    const std::uint64_t to = from + records_in(in_block_[number]) * layout_.record_bytes;
    const std::uint64_t first_page = from / kPageBytes * kPageBytes;
    queue.submit({.file = &file_,
                  .direction = io::Direction::kRead,
                  .data = block(number),
                  .bytes = round_up(to, kPageBytes) - first_page,
                  .offset_bytes = first_page,
                  .tag = number});
  }

  void inspect(const io::Completion& completion, OrderVerifier& verifier) const {
    const std::uint64_t piece = in_block_[completion.tag];
    const std::uint64_t skipped = first_byte_of(piece) % kPageBytes;
    const std::uint64_t records = records_in(piece);
    if (completion.bytes < skipped + records * layout_.record_bytes)
      throw ProofError(fmt::format("verify {}: the file ends at offset {}", file_.name(),
                                   first_byte_of(piece) - skipped + completion.bytes));
    verifier.inspect(block(completion.tag) + skipped, records);
  }

  const io::File& file_;
  const RecordLayout& layout_;
  std::span<std::byte> memory_;
  std::size_t block_bytes_;
  std::uint64_t piece_records_;
  std::uint64_t first_byte_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t next_piece_ = 0;
  std::array<std::uint64_t, kBlocks> in_block_{};
};

/// Reads lines back, front to back, with two blocks of `memory`: one is read while the other is checked.
OrderVerifier read_lines(const WrittenRange& range, io::Backend backend, std::span<std::byte> memory,
                         const RankContext& context) {
  const std::size_t block_bytes = memory.size() / RangeReader::kBlocks / kPageBytes * kPageBytes;
  const std::uint64_t end = range.first_byte + range.bytes;
  const auto queue = io::make_queue(backend, RangeReader::kBlocks);
  std::array<std::size_t, RangeReader::kBlocks> got{};
  std::uint64_t requested = range.first_byte / kPageBytes * kPageBytes;
  const auto request = [&](std::size_t block) {
    if (requested >= end) return;
    const std::uint64_t bytes = std::min<std::uint64_t>(block_bytes, round_up(end - requested, kPageBytes));
    queue->submit({.file = range.file,
                   .direction = io::Direction::kRead,
                   .data = memory.data() + block * block_bytes,
                   .bytes = bytes,
                   .offset_bytes = requested,
                   .tag = block});
    requested += bytes;
  };
  OrderVerifier found(context.layout);
  std::optional<order::RowScanner> rows;
  if (context.layout.lines->is_csv()) rows.emplace(order::CsvFormat{});
  for (std::size_t block = 0; block < RangeReader::kBlocks; ++block) request(block);
  std::size_t block = 0;
  for (std::uint64_t at = range.first_byte; at < end; block = (block + 1) % RangeReader::kBlocks) {
    while (got[block] == 0) {
      const io::Completion completion = queue->wait();
      if (completion.bytes == 0) throw ProofError(fmt::format("verify {}: the file is too short", range.file->name()));
      got[completion.tag] = completion.bytes;
    }
    const std::size_t skipped = at % kPageBytes;
    const std::size_t bytes = std::min<std::uint64_t>(got[block] - std::min(got[block], skipped), end - at);
    if (bytes == 0 || (bytes < block_bytes - skipped && at + bytes < end))
      throw ProofError(fmt::format("verify {}: the file ends at offset {}", range.file->name(), at + bytes));
    const std::span<std::byte> read = memory.subspan(block * block_bytes + skipped, bytes);
    if (rows) rows->scan_and_hide(read);
    found.inspect(read.data(), bytes);
    context.monitor->advance(bytes);
    at += bytes;
    got[block] = 0;
    request(block);
  }
  return found;
}

/// The part of `range` that lies within bytes [first, last) of all ranges. `before`: bytes of the ranges before it.
WrittenRange part_of(const WrittenRange& range, std::uint64_t before, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = std::clamp(first, before, before + range.bytes);
  const std::uint64_t end = std::clamp(last, before, before + range.bytes);
  return {range.file, range.first_byte + begin - before, end - begin};
}

class OutputReader {
 public:
  OutputReader(std::span<const WrittenRange> ranges, const RankContext& context) : ranges_(ranges), context_(context) {
    for (const WrittenRange& range : ranges) past_caches_.emplace_back(*range.file, context.options->access);
  }

  OrderVerifier read() {
    // Staging memory is used, because inputs may be mapped over the memory for records.
    std::vector<OrderVerifier> parts;
    with_records(context_.layout, [&](const auto& records) { read_parts(records, parts); });
    OrderVerifier all(context_.layout);
    for (OrderVerifier& part : parts) all.append(std::move(part));
    return all;
  }

 private:
  /// Reads each file of lines with one thread.
  void read_parts(const LineKeys&, std::vector<OrderVerifier>& parts) {
    parts.resize(ranges_.size(), OrderVerifier(context_.layout));
    const std::size_t workers = std::min(parts.size(), context_.plan.threads);
    run_workers(workers, [&](std::size_t worker, const StopFlag&) {
      for (std::size_t part = worker; part < parts.size(); part += workers)
        parts[part] =
            read_lines(ranges_[part], past_caches_[part].backend(), context_.beside_shared(worker).staging, context_);
    });
  }
  /// Reads an equal part of the records with each thread.
  void read_parts(const FixedRecords&, std::vector<OrderVerifier>& parts) {
    parts.resize(context_.plan.threads, OrderVerifier(context_.layout));
    run_workers(parts.size(), [&](std::size_t worker, const StopFlag&) { parts[worker] = read_part(worker); });
  }
  /// Reads the records of one thread, whatever files they are in.
  OrderVerifier read_part(std::size_t thread) {
    const std::uint64_t record_bytes = context_.layout.record_bytes;
    std::uint64_t all = 0;
    for (const WrittenRange& range : ranges_) all += range.bytes / record_bytes;
    const std::vector<std::uint64_t> shares = equal_parts(all, context_.plan.threads);
    const std::uint64_t first =
        std::accumulate(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(thread), std::uint64_t{0}) *
        record_bytes;
    const std::uint64_t last = first + shares[thread] * record_bytes;
    OrderVerifier found(context_.layout);
    std::uint64_t before = 0;
    for (std::size_t range = 0; range < ranges_.size(); before += ranges_[range++].bytes) {
      const WrittenRange part = part_of(ranges_[range], before, first, last);
      if (part.bytes == 0) continue;
      RangeReader reader(*part.file, context_.layout, context_.beside_shared(thread).staging);
      const auto queue = io::make_queue(past_caches_[range].backend(), RangeReader::kBlocks);
      found.append(reader.read(part.first_byte, part.bytes / record_bytes, *queue, *context_.monitor));
    }
    return found;
  }

  std::span<const WrittenRange> ranges_;
  const RankContext& context_;
  std::deque<PastPageCache> past_caches_;
};

/// Reads a range with one thread.
OrderVerifier read_range(const LineKeys&, const WrittenRange& range, io::Backend backend, std::span<std::byte> memory,
                         const RankContext& context) {
  return read_lines(range, backend, memory, context);
}
OrderVerifier read_range(const FixedRecords&, const WrittenRange& range, io::Backend backend,
                         std::span<std::byte> memory, const RankContext& context) {
  const auto queue = io::make_queue(backend, RangeReader::kBlocks);
  RangeReader reader(*range.file, context.layout, memory);
  return reader.read(range.first_byte, range.bytes / context.layout.record_bytes, *queue, *context.monitor);
}

std::string names_of(std::span<const WrittenRange> ranges) {
  std::vector<std::string> names;
  names.reserve(ranges.size());
  for (const WrittenRange& range : ranges) names.push_back(range.file->name());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void verify_output(const OrderVerifier& written, std::span<const WrittenRange> ranges, const RankContext& context) {
  const OrderVerifier all = OutputReader(ranges, context).read();
  if (!all.same_records(written))
    throw ProofError(
        fmt::format("verify {}: the disk returns other records than those written (fingerprint {:016x}, written "
                    "{:016x})",
                    names_of(ranges), all.digest().fingerprint, written.digest().fingerprint));
}

std::vector<std::size_t> find_damaged(std::span<const OrderVerifier> written, std::span<const WrittenRange> ranges,
                                      const RankContext& context) {
  if (ranges.empty()) return {};
  const PastPageCache past(*ranges.front().file, context.options->access);
  std::mutex mutex;  // guards `damaged`
  std::vector<std::size_t> damaged;
  run_tasks(ranges.size(), context.plan.threads, [&](std::size_t number, std::size_t seat, const StopFlag&) {
    const Monitor::Activity activity(*context.monitor, seat, "check the output of the checkpoint");
    bool same = false;
    try {
      same = with_records(context.layout, [&](const auto& records) {
        return read_range(records, ranges[number], past.backend(), context.beside_shared(seat).staging, context)
            .same_records(written[number]);
      });
    } catch (const ProofError&) {
      same = false;  // the file is too short
    }
    const std::lock_guard lock(mutex);
    if (!same) damaged.push_back(number);
  });
  return damaged;
}

}  // namespace hetsort::sort
