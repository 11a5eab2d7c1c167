// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange.h"

#include <pthread.h>

#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "io/calls/buffer.h"
#include "io/thread.h"
#include "sort/deal/range_dealer.h"
#include "sort/deal/run_copies.h"
#include "sort/exchange/exchange_memory.h"
#include "sort/exchange/exchange_streams.h"
#include "sort/exchange/incoming_streams.h"
#include "sort/exchange/relay.h"
#include "sort/exchange/run_portions.h"
#include "sort/exchange/size_tables.h"
#include "sort/exchange/thread_ranges.h"
#include "sort/failure/report_failure.h"
#include "sort/merge/fewer_streams.h"
#include "sort/merge/merge_runs.h"
#include "sort/output/output_sinks.h"

namespace hetsort::sort {

namespace {

class Exchange {
 public:
  Exchange(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context, Output& output)
      : runs_(runs),
        plan_(plan),
        context_(context),
        ranks_(*context.ranks),
        output_(output),
        me_(plan.me),
        memory_(runs, plan, context),
        line_limits_{runs.longest_line, memory_for_lines(plan, runs, context)},
        copies_(runs, context) {}

  Written run() {
    if (!memory_.is_in_arena() && runs_.kept.empty() && !runs_.in_memory()) io::discard_pages(context_.arena);
    std::vector<std::uint64_t> threads_of_ranks;
    for (const RankRuns& rank : plan_.of_rank) threads_of_ranks.push_back(rank.threads);
    const int dealer_tags = plan_.is_dealt ? RangeDealer::tags(threads_of_ranks) : 0;
    first_tag_ = ranks_.take_tags(max_streams() + kOtherTags + dealer_tags);
    if (plan_.is_dealt) dealer_.emplace(ranks_, first_tag_ + max_streams() + kOtherTags, std::move(threads_of_ranks));
    tables_.emplace(ranks_, first_tag_ + max_streams() + 1);
    ranks_.on_failure([this] { wake(); });
    out_ = list_outgoing(runs_, plan_, context_);
    if (plan_.is_dealt) sizes_of_ranges_ = sizes_of_ranges(runs_, plan_, context_);
    sizes_ = tables_->swap(plan_.is_dealt ? tables_of_ranges(plan_, sizes_of_ranges_) : std::move(out_.sizes_to),
                           sizes_in_tables(plan_), progress_of(ranks_));
    range_first_ = firsts_of_ranges(plan_, sizes_);
    if (context_.layout.is_lines()) say_passes(plan_, sizes_, line_limits_, context_);
    start(list_incoming(plan_, sizes_));
    run_workers(threads(), [&](std::size_t thread, const StopFlag& stop) {
      const Monitor::Activity activity(*context_.monitor, thread, "merge and write");
      if (plan_.is_dealt)
        merge_dealt(thread, stop);
      else
        merge_parts(thread, stop);
    });
    finish();
    return plan_.is_dealt ? dealt_ranges() : Written(me_, joined());
  }

  /// After run(): writes the work of other ranks that this rank did into `result`.
  void describe(RankResult& result) const {
    result.taken = taken_;
    for (const std::size_t rank : copies_.ranks()) {
      std::uint64_t records = 0;
      for (const MemoryRun& run : copies_.of(rank).runs.kept) records += run.records();
      result.copied.push_back({rank, records});
    }
  }

  /// Ends all threads and messages of the exchange after a throw.
  void abandon() {
    if (outgoing_) outgoing_->stop();
    if (sender_.joinable()) sender_.join();
    ranks_.on_failure({});
    ranks_.drain();
    if (sender_error_) std::rethrow_exception(sender_error_);
  }

 private:
  std::size_t threads() const { return plan_.of_rank[me_].threads; }
  std::size_t parts() const { return plan_.of_rank[me_].parts; }
  bool is_inline() const { return ranks_.mode() == comm::ExchangeMode::kInline; }
  // Tags behind those of the streams: credits, size tables, two for the relay.
  static constexpr int kOtherTags = 4;
  int credit_tag() const { return first_tag_ + max_streams(); }
  /// What a waiting thread must do: in inline mode it lets messages progress.
  Progress progress() {
    if (!is_inline()) return {};
    return [this] {
      const bool progressed = ranks_.progress();
      return outgoing_->send_one() || progressed;
    };
  }
  RelayWire relay_wire() {
    return {first_tag_ + max_streams() + 2, block_records(), context_.layout.record_bytes, progress(), plan_.credits};
  }
  std::uint64_t block_records() const { return plan_.block_bytes / context_.layout.record_bytes; }

  /// The maximum number of streams between two ranks, which is the number of tags that they need.
  int max_streams() const {
    std::uint64_t most_threads = 0;
    std::uint64_t most_runs = 0;
    for (const RankRuns& rank : plan_.of_rank) {
      most_threads = std::max(most_threads, rank.threads);
      most_runs = std::max(most_runs, rank.runs);
    }
    const std::uint64_t streams = most_threads * most_runs;
    if (streams > static_cast<std::uint64_t>(std::numeric_limits<int>::max() - kOtherTags))
      throw std::length_error("the exchange needs more streams than there are tags");
    return static_cast<int>(streams);
  }

  /// Sorts the buckets that contain a cut: afterwards no two portions share an unsorted bucket.
  void sort_borders() {
    const std::size_t workers = std::clamp<std::size_t>(runs_.kept.size(), 1, context_.plan.threads);
    run_workers(workers, [&](std::size_t worker, const StopFlag&) {
      for (std::size_t run = worker; run < runs_.kept.size(); run += workers)
        for (const Cut& cut : plan_.cuts) runs_.kept[run].sort_border(cut[run], context_.beside_shared(worker).scratch);
    });
  }

  /// The blocks that leave, of runs in memory and of runs on disk. Each source gets memory in proportion to its
  /// streams.
  std::unique_ptr<BlockSource> make_source() {
    const std::size_t of_kept = exchange_memory_bytes(out_.in_memory.size(), 0, plan_.block_bytes, plan_.credits);
    std::unique_ptr<MemoryBlocks> kept;
    std::unique_ptr<SpilledBlocks> spilled;
    if (runs_.in_memory() || !runs_.kept.empty())
      kept = std::make_unique<MemoryBlocks>(
          out_.in_memory, MemoryBlocks::Shape{context_.layout.record_bytes, block_records(), plan_.credits},
          memory_.out().first(of_kept));
    kept_blocks_ = kept.get();
    if (runs_.in_memory()) return kept;
    spilled =
        std::make_unique<SpilledBlocks>(*runs_.space, context_.layout, out_.spilled, memory_.out().subspan(of_kept),
                                        io::make_queue(runs_.spill_backend, kSpillReadDepth));
    spilled_blocks_ = spilled.get();
    if (runs_.kept.empty()) return spilled;
    return std::make_unique<MixedBlocks>(std::move(kept), std::move(spilled), out_.is_spilled);
  }

  /// Has blocks made where other ranks of this host merge them.
  void make_blocks_at_receivers() {
    if (!runs_.in_memory()) return;
    for (std::size_t stream = 0; stream < out_.streams.size(); ++stream) {
      const auto& [to, number, parts] = out_.streams[stream];
      const std::size_t runs = runs_.count();
      if (const auto ring = memory_.ring_at(static_cast<std::size_t>(to), number / runs, number % runs))
        kept_blocks_->make_at_receiver(stream, *ring);
    }
  }

  /// Adds what a run has for a range to an outgoing stream.
  void add_portion(std::size_t stream, std::uint64_t range) {
    const std::size_t run = out_.streams[stream].number % runs_.count();
    const std::uint64_t first = plan_.cuts[range][run];
    const std::uint64_t last = plan_.cuts[range + 1][run];
    // The streams to one thread are those of all runs, of which the kept ones come first.
    const std::size_t thread = stream / runs_.count();
    if (run < runs_.kept.size())
      kept_blocks_->append(thread * runs_.kept.size() + run, {&runs_.kept[run], first, last});
    else
      spilled_blocks_->append(thread * runs_.spilled.size() + run - runs_.kept.size(),
                              {&runs_.spilled[run - runs_.kept.size()], first, last});
  }

  /// Makes both ends of all streams and starts the thread that sends.
  void start(const std::vector<std::vector<IncomingStream>>& in) {
    sort_borders();
    source_ = make_source();
    OutgoingStreams::Wire out_wire{first_tag_, credit_tag(), plan_.credits};
    if (plan_.is_dealt)
      out_wire.dealt = {runs_.count(), sizes_of_ranges_,
                        [this](std::size_t stream, std::uint64_t range) { add_portion(stream, range); }};
    outgoing_.emplace(ranks_, *source_, out_.streams, out_wire);
    IncomingStreams::Wire wire{first_tag_, credit_tag(),  plan_.block_bytes,    context_.layout.record_bytes,
                               progress(), plan_.credits, plan_.streams_in(me_)};
    ranges_.resize(threads());
    for (std::size_t thread = 0; thread < threads(); ++thread) {
      if (plan_.is_dealt) wire.has_room = [this, thread] { ranges_[thread]->prepare_next(); };
      if (plan_.is_dealt && runs_.shared_input != nullptr) {
        wire.waits = [this, thread] { ranges_[thread]->talk(); };
        wire.long_wait = dealer_->pause_between_reports();
      }
      incoming_.push_back(std::make_unique<IncomingStreams>(ranks_, in[thread], memory_.of_thread(thread).in, wire));
      if (plan_.is_dealt) ranges_[thread].emplace(*dealer_, job_of(thread));
    }
    if (output_.is_relayed() && me_ == 0) relayed_.emplace(ranks_, plan_.shares, relay_wire());
    if (plan_.is_dealt && me_ == 0) dealer_->serve(make_table());
    started_ = true;
    // Blocks leave only when all ranks have posted their first receives: a send to a rank that failed before would
    // never complete.
    memory_.map_neighbours(ranks_.all_gather(memory_.shared_name()));
    make_blocks_at_receivers();
    if (!is_inline()) sender_ = io::start_thread("sends blocks", [this] { send_blocks(); });
  }

  ThreadRanges::Job job_of(std::size_t thread) {
    return {.thread = thread,
            .range = plan_.first_range(me_) + thread,
            .streams = incoming_[thread].get(),
            .records = [this](std::uint64_t range) { return records_of(range); },
            .begin_range = [this](std::uint64_t range) { return begin_range(range); },
            .copying = [this] { return copies_.ability(); },
            .copy =
                [this, thread](std::size_t rank) {
                  copies_.copy(rank, originals_of(plan_, rank, sizes_), thread, memory_.of_thread(thread).scratch);
                }};
  }

  /// Decides which ranks send nothing for a range, because this one has copies of their runs. Returns what arrives.
  std::vector<StreamSize> begin_range(std::uint64_t range) {
    std::vector<std::size_t> copied = copies_.ranks();
    std::vector<StreamSize> sizes = sizes_of_range(plan_, sizes_, range, copied);
    const std::lock_guard lock(merged_mutex_);
    copied_for_[range] = std::move(copied);
    return sizes;
  }

  /// The ranks whose copied runs are merged for a range.
  std::vector<std::size_t> copied_for(std::size_t range) {
    const std::lock_guard lock(merged_mutex_);
    const auto found = copied_for_.find(range);
    return found == copied_for_.end() ? std::vector<std::size_t>() : found->second;
  }

  /// The work of the thread that prepares and sends blocks. Tools know the thread by its name.
  void send_blocks() {
    ::pthread_setname_np(::pthread_self(), "hetsort-send");
    const Monitor::Activity activity(*context_.monitor, threads(), "prepare blocks", Monitor::Role::kBeside);
    try {
      outgoing_->run();
    } catch (const comm::PeerFailed&) {
    } catch (const std::exception& error) {
      sender_error_ = std::current_exception();
      report_failure(ranks_, error);
    }
  }

  /// The number of records of a range. Requires: ranges are dealt.
  std::uint64_t records_of(std::size_t range) const { return range_first_[range + 1] - range_first_[range]; }

  DealTable make_table() const {
    std::vector<DealTable::Rank> of_ranks;
    for (std::size_t rank = 0; rank < plan_.of_rank.size(); ++rank) {
      DealTable::Rank& of_rank = of_ranks.emplace_back();
      of_rank.threads = plan_.of_rank[rank].threads;
      of_rank.ranges = of_rank.threads * plan_.of_rank[rank].parts;
      for (const StreamSize& size : sizes_[rank]) of_rank.held += size.records;
      for (const std::vector<StreamSize>& range : sizes_of_ranges_)
        for (const StreamSize& size : range) of_rank.held += rank == me_ ? size.records : 0;
      of_rank.can_be_copied = runs_.shared_input != nullptr && plan_.of_rank[rank].spilled_runs == 0;
    }
    std::vector<std::uint64_t> records;
    for (std::size_t range = 0; range < plan_.ranges(); ++range) records.push_back(records_of(range));
    return {of_ranks, std::move(records), context_.options->hooks.redeal.seed};
  }

  /// Merges one thread's ranges, part after part.
  void merge_parts(std::size_t thread, const StopFlag& stop) {
    for (std::size_t part = 0; part < parts(); ++part) {
      if (part > 0) incoming_[thread]->next_part();
      merge_range(thread, plan_.first_range(me_) + part * threads() + thread, stop);
    }
    incoming_[thread]->finish();
  }

  /// Merges the ranges that rank 0 deals to a thread.
  void merge_dealt(std::size_t thread, const StopFlag& stop) {
    ThreadRanges& ranges = *ranges_[thread];
    do {
      if (context_.options->hooks.redeal.before_range) context_.options->hooks.redeal.before_range();
      merge_range(thread, ranges.range(), stop);
    } while (ranges.next(stop));
    incoming_[thread]->finish();
  }

  /// All that was merged, in the order of the ranges.
  OrderVerifier joined() {
    OrderVerifier whole(context_.layout);
    for (auto& [range, verifier] : merged_ranges_) whole.append(std::move(verifier));
    return whole;
  }

  /// The ranges that were merged.
  Written dealt_ranges() {
    Written all(context_.layout);
    const std::vector<std::size_t> first = plan_.first_ranges();
    for (std::size_t rank = 0; rank < plan_.of_rank.size(); ++rank) {
      RankResult::TakenRanges taken{.from = rank};
      const auto end = merged_ranges_.lower_bound(first[rank + 1]);
      for (auto at = merged_ranges_.lower_bound(first[rank]); at != end; ++at) {
        auto& [range, verifier] = *at;
        ++taken.ranges;
        taken.bytes += verifier.bytes();
        const std::uint64_t first_byte = range_first_[range] * context_.layout.record_bytes;
        all.append({range, range + 1, first_byte, std::move(verifier)});
      }
      if (rank != me_ && taken.ranges > 0) taken_.push_back(taken);
    }
    return all;
  }

  void merge_range(std::size_t thread, std::size_t range, const StopFlag& stop) {
    ranks_.check();  // all that is merged may be in memory, so that nothing else notices the failure of another rank
    OrderVerifier verifier(context_.layout, context_.options->output.checksum);
    merge_range(thread, range, verifier, stop);
    const std::lock_guard lock(merged_mutex_);
    merged_ranges_.emplace(range, std::move(verifier));
  }

  void merge_range(std::size_t thread, std::size_t range, OrderVerifier& verifier, const StopFlag& stop) {
    const RecordLayout& layout = context_.layout;
    const ExchangeMemory::Thread& memory = memory_.of_thread(thread);
    const auto read_queue = io::make_queue(runs_.spill_backend, kSpillReadDepth);
    const std::vector<std::size_t> copied = copied_for(range);
    const OwnStreams own = own_streams(range, copied, memory, *read_queue);
    FewerStreams all(context_, memory.staging, line_limits_);
    join_in_input_order(thread, range, own, copied, all);
    RecordStreams& streams = all.reduce(stop);
    if (output_.is_relayed() && me_ != 0) {
      relay(streams, verifier);
      return;
    }
    OutputSinks sinks(output_, memory.staging, context_.plan.staging_blocks);
    const std::size_t place = plan_.is_dealt ? range : range - plan_.first_range(me_);
    const auto sink = sinks.sink_at(range_first_[place] * layout.record_bytes, layout.record_bytes);
    merge_streams(streams, layout, {*sink, verifier, *context_.monitor, stop});
    sink->finish();
    if (relayed_) relayed_->write_to(output_);
  }

  /// The portions of this rank's own runs for a range, and of copied ones.
  struct OwnStreams {
    std::unique_ptr<MemoryStreams> kept;  // own runs first, then copied ones, rank by rank
    std::unique_ptr<RunReader> spilled;   // null if all runs are in memory
  };
  OwnStreams own_streams(std::size_t range, std::span<const std::size_t> copied, const ExchangeMemory::Thread& memory,
                         io::Queue& queue) const {
    const Cut& from = plan_.cuts[range];
    const Cut& to = plan_.cuts[range + 1];
    MemoryPortions kept;
    std::vector<SpilledPortion> spilled;
    for (std::size_t run = 0; run < runs_.kept.size(); ++run) kept.push_back({&runs_.kept[run], from[run], to[run]});
    for (std::size_t run = 0; run < runs_.spilled.size(); ++run)
      spilled.push_back({&runs_.spilled[run], from[kept.size() + run], to[kept.size() + run]});
    for (const std::size_t rank : copied) {
      const RunCopies::Copy& copy = copies_.of(rank);
      for (std::size_t run = 0; run < copy.originals.size(); ++run)
        kept.push_back({&copy.runs.kept[run], copy.originals[run].cuts[range], copy.originals[run].cuts[range + 1]});
    }
    OwnStreams own;
    own.kept = std::make_unique<MemoryStreams>(kept, context_.layout.record_bytes, memory.scratch);
    if (!runs_.in_memory())
      own.spilled = std::make_unique<RunReader>(*runs_.space, context_.layout, spilled, memory.own, queue);
    return own;
  }

  /// Merges the streams, and sends the records to rank 0, which writes them.
  void relay(RecordStreams& streams, OrderVerifier& verifier) {
    merged_.emplace(streams, relay_wire(), verifier, *context_.monitor);
    relayed_share_.emplace(ranks_, *merged_, plan_.shares[me_], relay_wire());
    relaying_ = true;
    relayed_share_->send();
  }

  /// Joins own and incoming streams in the order of their runs in the whole input, which breaks ties.
  void join_in_input_order(std::size_t thread, std::size_t range, const OwnStreams& own,
                           std::span<const std::size_t> copied, FewerStreams& joined) const {
    struct Placed {
      std::uint64_t place = 0;
      std::uint64_t records = 0;
      RecordStreams* source = nullptr;
      std::size_t stream = 0;
    };
    std::vector<Placed> order;
    const std::vector<std::vector<std::uint64_t>> records = records_of_streams(plan_, sizes_, range);
    const auto place = [&](std::size_t rank, std::size_t run, RecordStreams& source, std::size_t stream) {
      order.push_back({plan_.of_rank[rank].places[run], records[rank][run], &source, stream});
    };
    IncomingStreams& incoming = *incoming_[thread];
    for (std::size_t stream = 0; stream < incoming.streams(); ++stream) {
      const auto from = static_cast<std::size_t>(incoming.info(stream).from);
      if (std::ranges::binary_search(copied, from)) continue;
      place(from, incoming.info(stream).number % plan_.of_rank[from].runs, incoming, stream);
    }
    const std::size_t kept = runs_.kept.size();
    for (std::size_t run = 0; run < kept; ++run) place(me_, run, *own.kept, run);
    for (std::size_t run = kept; run < runs_.count(); ++run) place(me_, run, *own.spilled, run - kept);
    std::size_t copy = kept;
    for (const std::size_t rank : copied)
      for (std::size_t run = 0; run < plan_.of_rank[rank].runs; ++run) place(rank, run, *own.kept, copy++);
    std::ranges::sort(order, {}, &Placed::place);
    for (const Placed& each : order) joined.add(*each.source, each.stream, each.records * context_.layout.record_bytes);
  }

  void finish() {
    if (is_inline()) {
      const Monitor::Activity activity(*context_.monitor, threads(), "prepare blocks", Monitor::Role::kBeside);
      outgoing_->run(progress());
    }
    if (sender_.joinable()) sender_.join();
    if (sender_error_) std::rethrow_exception(sender_error_);
    if (dealer_) dealer_->finish();
    ranks_.check();
    ranks_.on_failure({});
    // Unmapping takes as long as mapping, so all threads share it.
    if (runs_.mapped)
      run_workers(context_.plan.threads,
                  [this](std::size_t worker, const StopFlag&) { runs_.mapped->let_go(worker, context_.plan.threads); });
  }

  void wake() {
    tables_->wake();
    if (dealer_) dealer_->wake();
    if (!started_) return;
    outgoing_->wake();
    for (const auto& incoming : incoming_) incoming->wake();
    if (relayed_) relayed_->wake();
    if (relaying_) relayed_share_->wake();
  }

  const FormedRuns& runs_;
  const ExchangePlan& plan_;
  const RankContext& context_;
  comm::Communicator& ranks_;
  Output& output_;
  std::size_t me_;
  int first_tag_ = 0;
  ExchangeMemory memory_;
  FewerStreams::Limits line_limits_;
  std::optional<SizeTables> tables_;
  OutgoingPortions out_;
  std::vector<std::vector<StreamSize>> sizes_;            // from each rank
  std::vector<std::uint64_t> range_first_;                // firsts_of_ranges()
  std::vector<std::vector<StreamSize>> sizes_of_ranges_;  // of own runs; only if ranges are dealt, as the next three
  RunCopies copies_;
  std::map<std::uint64_t, std::vector<std::size_t>> copied_for_;  // by range; guarded by merged_mutex_
  std::optional<RangeDealer> dealer_;
  std::vector<std::optional<ThreadRanges>> ranges_;
  MemoryBlocks* kept_blocks_ = nullptr;  // the parts of source_
  SpilledBlocks* spilled_blocks_ = nullptr;
  std::unique_ptr<BlockSource> source_;
  std::mutex merged_mutex_;
  std::map<std::size_t, OrderVerifier> merged_ranges_;  // guarded by merged_mutex_
  std::vector<RankResult::TakenRanges> taken_;
  std::optional<OutgoingStreams> outgoing_;
  std::vector<std::unique_ptr<IncomingStreams>> incoming_;
  std::optional<RelayedShares> relayed_;  // set on rank 0, if the output is a stream
  std::optional<MergedBlocks> merged_;    // set on the other ranks then
  std::optional<RelayedShare> relayed_share_;
  std::atomic<bool> started_{false};  // whether all objects that wake() uses exist
  std::atomic<bool> relaying_{false};
  std::thread sender_;
  std::exception_ptr sender_error_;
};

}  // namespace

WrittenOutput exchange_and_merge(const FormedRuns& runs, const ExchangePlan& plan, const RankContext& context,
                                 const ReadyOutput& output, RankResult& result) {
  Exchange exchange(runs, plan, context, *output);
  try {
    WrittenOutput written{output, exchange.run()};
    exchange.describe(result);
    return written;
  } catch (const std::exception& error) {
    report_failure(*context.ranks, error);
    exchange.abandon();
    throw;
  }
}

}  // namespace hetsort::sort
