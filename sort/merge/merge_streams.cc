// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <optional>

#include "sort/merge/line_streams.h"
#include "sort/merge/merge_runs.h"
#include "sort/model/record_order.h"
#include "sort/output/line_writer.h"

namespace hetsort::sort {

namespace {

// How far ahead of a stream's current record the memory is prefetched: its block is not in cache.
constexpr std::size_t kPrefetchAheadBytes = 512;

/// The element of a stream that has ended; it is above all others.
constexpr Element kExhausted = ~Element{0};

/// A tree of losers: node 0 holds the winner, nodes 1..k-1 the losers, leaf i hangs below node (i + k) / 2.
class LoserTree {
 public:
  /// `lines`: set if the records are lines.
  LoserTree(RecordStreams& reader, const RecordLayout& layout, std::optional<LineKeys> lines = {})
      : reader_(reader), layout_(layout), lines_(lines), streams_(std::max<std::size_t>(1, reader.streams())) {
    heads_.resize(streams_);
    keys_.assign(streams_, kExhausted);
    for (std::size_t stream = 0; stream < reader.streams(); ++stream) refill(stream);
    losers_.assign(streams_, streams_);
    for (std::size_t stream = 0; stream < streams_; ++stream) insert(stream);
  }

  bool empty() const { return keys_[losers_[0]] == kExhausted; }

  /// The next line. Requires: !empty().
  std::span<const std::byte> line() const { return line_of(losers_[0]); }
  void pass_line() {
    assert(!empty());
    const std::size_t winner = losers_[0];
    Head& head = heads_[winner];
    head.record = head.line_end;
    if (head.record == head.end) {
      refill(winner);
    } else {
      __builtin_prefetch(head.record + kPrefetchAheadBytes);
      keys_[winner] = prefix_of_head(winner) | winner;
    }
    replay<false>(winner);
  }

  /// Writes lines of about `bytes` bytes, fewer only at the end. Returns how many bytes.
  std::size_t write_lines(LineWriter& writer, std::size_t bytes) {
    std::size_t written = 0;
    for (; written < bytes && !empty(); pass_line()) {
      writer.write(line());
      written += line().size();
    }
    return written;
  }

  /// Copies the next `count` records to `to`, fewer only at the end. Returns how many.
  template <bool kWholeKeys, std::size_t kFixedBytes, typename Prefix>
  std::size_t take(const Prefix& prefix_of_record, std::byte* to, std::size_t count) {
    const std::size_t bytes = kFixedBytes != 0 ? kFixedBytes : layout_.record_bytes;
    for (std::size_t taken = 0; taken < count; ++taken, to += bytes) {
      const std::size_t winner = losers_[0];
      if (keys_[winner] == kExhausted) return taken;
      Head& head = heads_[winner];
      std::memcpy(to, head.record, bytes);
      head.record += bytes;
      if (head.record == head.end) {
        refill(winner);
      } else {
        __builtin_prefetch(head.record + kPrefetchAheadBytes);
        keys_[winner] = prefix_of_record(head.record) | winner;
      }
      replay<kWholeKeys>(winner);
    }
    return count;
  }

 private:
  struct Head {
    const std::byte* record = nullptr;
    const std::byte* end = nullptr;
    const std::byte* line_end = nullptr;  // end of the line, if records are lines
  };

  void refill(std::size_t stream) {
    const std::span<const std::byte> records = reader_.next(stream);
    heads_[stream] = {records.data(), records.data() + records.size(), nullptr};
    keys_[stream] = records.empty() ? kExhausted : prefix_of_head(stream) | stream;
  }

  std::span<const std::byte> line_of(std::size_t stream) const {
    return {heads_[stream].record, heads_[stream].line_end};
  }
  /// Finds the end of a line.
  Element prefix_of_head(std::size_t stream) {
    Head& head = heads_[stream];
    if (!lines_) return key_prefix(layout_, head.record);
    const std::span<const std::byte> line = lines_->line_at(head.record);
    head.line_end = line.data() + line.size();
    return lines_->prefix(line);
  }
  int compare_heads(std::size_t a, std::size_t b) const {
    if (lines_) return lines_->compare(line_of(a), line_of(b));
    return layout_.compare(heads_[a].record, heads_[b].record, kPrefixBytes);
  }

  template <bool kWholeKeys>
  bool before(std::size_t a, std::size_t b) const {
    if constexpr (!kWholeKeys) {
      if (keys_[a] != kExhausted && keys_[b] != kExhausted && prefix_of(keys_[a]) == prefix_of(keys_[b])) {
        const int order = compare_heads(a, b);
        return order != 0 ? order < 0 : a < b;
      }
    }
    return keys_[a] < keys_[b];
  }

  /// Builds the tree: plays `stream` up from its leaf to the first empty node, and leaves the loser there.
  void insert(std::size_t stream) {
    std::size_t winner = stream;
    for (std::size_t node = (stream + streams_) / 2; node > 0; node /= 2) {
      if (losers_[node] == streams_) {
        losers_[node] = winner;
        return;
      }
      const bool loses =
          prefix_is_whole_key(layout_) ? before<true>(losers_[node], winner) : before<false>(losers_[node], winner);
      if (loses) std::swap(losers_[node], winner);
    }
    losers_[0] = winner;
  }

  template <bool kWholeKeys>
  void replay(std::size_t stream) {
    std::size_t winner = stream;
    if constexpr (kWholeKeys) {
      Element key = keys_[stream];
      for (std::size_t node = (stream + streams_) / 2; node > 0; node /= 2) {
        const std::size_t other = losers_[node];
        const Element other_key = keys_[other];
        const bool loses = other_key < key;
        losers_[node] = loses ? winner : other;
        winner = loses ? other : winner;
        key = loses ? other_key : key;
      }
    } else {
      for (std::size_t node = (stream + streams_) / 2; node > 0; node /= 2)
        if (before<false>(losers_[node], winner)) std::swap(losers_[node], winner);
    }
    losers_[0] = winner;
  }

  RecordStreams& reader_;
  RecordLayout layout_;
  std::optional<LineKeys> lines_;
  std::size_t streams_;
  std::vector<Head> heads_;
  std::vector<Element> keys_;
  std::vector<std::size_t> losers_;
};

class RecordMerger : public Merger {
 public:
  RecordMerger(RecordStreams& streams, const RecordLayout& layout) : tree_(streams, layout), layout_(layout) {}

  bool empty() const override { return tree_.empty(); }
  std::size_t take(std::byte* to, std::size_t count) override {
    constexpr std::size_t kBenchmarkRecordBytes = 100;
    return with_key_prefix(layout_, [&](const auto& prefix) {
      if (!prefix_is_whole_key(layout_)) return tree_.take<false, 0>(prefix, to, count);
      return layout_.record_bytes == kBenchmarkRecordBytes ? tree_.take<true, kBenchmarkRecordBytes>(prefix, to, count)
                                                           : tree_.take<true, 0>(prefix, to, count);
    });
  }
  std::uint64_t merge(std::uint64_t bytes, const MergeTarget& target) override {
    const std::size_t record_bytes = layout_.record_bytes;
    const std::size_t batch = std::max<std::size_t>(1, kVerifyBatchBytes / record_bytes);
    std::uint64_t written = 0;
    while (!tree_.empty() && written < bytes) {
      if (target.stop.load(std::memory_order_relaxed)) throw Stopped{};
      const std::span<std::byte> room = target.sink.room();
      const std::uint64_t left = (bytes - written - 1) / record_bytes + 1;
      const std::size_t count = take(room.data(), std::min<std::uint64_t>({batch, room.size() / record_bytes, left}));
      target.verifier.inspect(room.data(), count);
      target.sink.commit(count * record_bytes);
      target.monitor.advance(count * record_bytes);
      written += count * record_bytes;
    }
    return written;
  }

 private:
  LoserTree tree_;
  RecordLayout layout_;
};

class LineMerger : public Merger {
 public:
  LineMerger(RecordStreams& streams, const RecordLayout& layout, const LineKeys& keys)
      : lines_(streams, keys), tree_(lines_, layout, keys) {}

  bool empty() const override { return tree_.empty(); }
  std::size_t take(std::byte* to, std::size_t count) override {
    std::size_t filled = 0;
    while (filled < count && !tree_.empty()) {
      const std::span<const std::byte> rest = tree_.line().subspan(taken_of_line_);
      const std::size_t bytes = std::min(rest.size(), count - filled);
      std::memcpy(to + filled, rest.data(), bytes);
      filled += bytes;
      taken_of_line_ += bytes;
      if (bytes < rest.size()) break;
      taken_of_line_ = 0;
      tree_.pass_line();
    }
    return filled;
  }
  std::uint64_t merge(std::uint64_t bytes, const MergeTarget& target) override {
    assert(taken_of_line_ == 0);
    LineWriter writer(target.sink, &target.verifier);
    std::uint64_t written = 0;
    while (!tree_.empty() && written < bytes) {
      if (target.stop.load(std::memory_order_relaxed)) throw Stopped{};
      const std::size_t batch = tree_.write_lines(writer, std::min<std::uint64_t>(kVerifyBatchBytes, bytes - written));
      target.monitor.advance(batch);
      written += batch;
    }
    writer.flush();
    return written;
  }

 private:
  LineStreams lines_;
  LoserTree tree_;
  std::size_t taken_of_line_ = 0;
};

std::unique_ptr<Merger> merger_of(const LineKeys& keys, RecordStreams& streams, const RecordLayout& layout) {
  return std::make_unique<LineMerger>(streams, layout, keys);
}

std::unique_ptr<Merger> merger_of(const FixedRecords& records, RecordStreams& streams, const RecordLayout& /*layout*/) {
  return std::make_unique<RecordMerger>(streams, records.layout);
}

}  // namespace

std::unique_ptr<Merger> make_merger(RecordStreams& streams, const RecordLayout& layout) {
  return with_records(layout, [&](const auto& records) { return merger_of(records, streams, layout); });
}

void merge_streams(RecordStreams& reader, const RecordLayout& layout, const MergeTarget& target) {
  make_merger(reader, layout)->merge(UINT64_MAX, target);
}

}  // namespace hetsort::sort
