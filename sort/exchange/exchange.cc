// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/exchange/exchange.h"

#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "io/calls/buffer.h"
#include "io/thread.h"
#include "sort/exchange/exchange_memory.h"
#include "sort/exchange/exchange_streams.h"
#include "sort/exchange/incoming_streams.h"
#include "sort/exchange/relay.h"
#include "sort/exchange/run_portions.h"
#include "sort/exchange/size_tables.h"
#include "sort/failure/report_failure.h"
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
        memory_(runs, plan, context) {}

  OrderVerifier run() {
    if (!memory_.is_in_arena() && runs_.kept.empty() && !runs_.in_memory()) io::discard_pages(context_.arena);
    first_tag_ = ranks_.take_tags(max_streams() + kOtherTags);
    tables_.emplace(ranks_, first_tag_ + max_streams() + 1);
    ranks_.on_failure([this] { wake(); });
    const OutgoingPortions out = list_outgoing(runs_, plan_, context_);
    const std::vector<std::vector<StreamSize>> sizes =
        tables_->swap(out.streams, sizes_from_ranks(plan_), progress_of(ranks_));
    start(out, list_incoming(plan_, sizes));
    std::vector<OrderVerifier> verifiers(parts() * threads(),
                                         OrderVerifier(context_.layout, context_.options->output.checksum));
    run_workers(threads(), [&](std::size_t thread, const StopFlag& stop) { merge_parts(thread, verifiers, stop); });
    finish();
    OrderVerifier whole(context_.layout);
    for (OrderVerifier& verifier : verifiers) whole.append(std::move(verifier));
    return whole;
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
    std::uint64_t streams = 0;
    for (const RankRuns& to : plan_.of_rank)
      for (const RankRuns& from : plan_.of_rank) streams = std::max(streams, to.threads * from.runs);
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
  std::unique_ptr<BlockSource> make_source(const OutgoingPortions& out) const {
    const std::size_t of_kept = exchange_memory_bytes(out.in_memory.size(), 0, plan_.block_bytes, plan_.credits);
    std::unique_ptr<BlockSource> kept;
    std::unique_ptr<BlockSource> spilled;
    if (runs_.in_memory() || !runs_.kept.empty())
      kept = std::make_unique<MemoryBlocks>(
          out.in_memory, MemoryBlocks::Shape{context_.layout.record_bytes, block_records(), plan_.credits},
          memory_.out().first(of_kept));
    if (runs_.in_memory()) return kept;
    spilled =
        std::make_unique<SpilledBlocks>(*runs_.space, context_.layout, out.spilled, memory_.out().subspan(of_kept),
                                        io::make_queue(runs_.spill_backend, kSpillReadDepth));
    if (runs_.kept.empty()) return spilled;
    return std::make_unique<MixedBlocks>(std::move(kept), std::move(spilled), out.is_spilled);
  }

  /// Makes both ends of all streams and starts the thread that sends.
  void start(const OutgoingPortions& out, const std::vector<std::vector<IncomingStream>>& in) {
    sort_borders();
    source_ = make_source(out);
    outgoing_.emplace(ranks_, *source_, out.streams, OutgoingStreams::Wire{first_tag_, credit_tag(), plan_.credits});
    const IncomingStreams::Wire wire{first_tag_, credit_tag(), plan_.block_bytes, context_.layout.record_bytes,
                                     progress(), plan_.credits};
    for (std::size_t thread = 0; thread < threads(); ++thread) {
      incoming_.push_back(std::make_unique<IncomingStreams>(ranks_, in[thread], memory_.of_thread(thread).in, wire));
    }
    if (output_.is_stream() && me_ == 0) relayed_.emplace(ranks_, plan_.shares, relay_wire());
    started_ = true;
    // Blocks leave only when all ranks have posted their first receives: a send to a rank that failed before would
    // never complete.
    ranks_.barrier();
    if (!is_inline()) sender_ = io::start_thread("sends blocks", [this] { send_blocks(); });
  }

  /// The work of the thread that prepares and sends blocks.
  void send_blocks() {
    const Monitor::Activity activity(*context_.monitor, threads(), "prepare blocks", Monitor::Role::kBeside);
    try {
      outgoing_->run();
    } catch (const comm::PeerFailed&) {
    } catch (const std::exception& error) {
      sender_error_ = std::current_exception();
      report_failure(ranks_, error);
    }
  }

  /// Merges one thread's ranges, part after part.
  void merge_parts(std::size_t thread, std::vector<OrderVerifier>& verifiers, const StopFlag& stop) {
    const Monitor::Activity activity(*context_.monitor, thread, "merge and write");
    for (std::size_t part = 0; part < parts(); ++part) {
      if (part > 0) incoming_[thread]->next_part();
      const std::size_t range = part * threads() + thread;
      merge_range(thread, range, verifiers[range], stop);
    }
    incoming_[thread]->finish();
  }

  void merge_range(std::size_t thread, std::size_t range, OrderVerifier& verifier, const StopFlag& stop) {
    const RecordLayout& layout = context_.layout;
    const ExchangeMemory::Thread& memory = memory_.of_thread(thread);
    const auto read_queue = io::make_queue(runs_.spill_backend, kSpillReadDepth);
    const OwnStreams own = own_streams(range, memory, *read_queue);
    JoinedStreams streams;
    join_in_input_order(thread, own, streams);
    if (output_.is_stream() && me_ != 0) {
      relay(streams, verifier);
      return;
    }
    OutputSinks sinks(output_, memory.staging, context_.plan.staging_blocks);
    const auto sink = sinks.sink_at(plan_.range_first[range] * layout.record_bytes, layout.record_bytes);
    merge_streams(streams, layout, {*sink, verifier, *context_.monitor, stop});
    sink->finish();
    if (relayed_) relayed_->write_to(*output_.first_volume().files().buffered, output_.filter());
  }

  /// The portions of this rank's own runs for one of its ranges.
  struct OwnStreams {
    std::unique_ptr<MemoryStreams> kept;
    std::unique_ptr<RunReader> spilled;  // null if all runs are in memory
  };
  OwnStreams own_streams(std::size_t range, const ExchangeMemory::Thread& memory, io::Queue& queue) const {
    const Cut& from = plan_.cuts[plan_.first_range(me_) + range];
    const Cut& to = plan_.cuts[plan_.first_range(me_) + range + 1];
    MemoryPortions kept;
    std::vector<SpilledPortion> spilled;
    for (std::size_t run = 0; run < runs_.kept.size(); ++run) kept.push_back({&runs_.kept[run], from[run], to[run]});
    for (std::size_t run = 0; run < runs_.spilled.size(); ++run)
      spilled.push_back({&runs_.spilled[run], from[kept.size() + run], to[kept.size() + run]});
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
  void join_in_input_order(std::size_t thread, const OwnStreams& own, JoinedStreams& joined) const {
    struct Placed {
      std::uint64_t place = 0;
      RecordStreams* source = nullptr;
      std::size_t stream = 0;
    };
    std::vector<Placed> order;
    std::size_t incoming = 0;
    for (std::size_t rank = 0; rank < plan_.of_rank.size(); ++rank) {
      const std::vector<std::uint64_t>& places = plan_.of_rank[rank].places;
      for (std::size_t run = 0; run < places.size(); ++run) {
        if (rank != me_)
          order.push_back({places[run], incoming_[thread].get(), incoming++});
        else if (run < runs_.kept.size())
          order.push_back({places[run], own.kept.get(), run});
        else
          order.push_back({places[run], own.spilled.get(), run - runs_.kept.size()});
      }
    }
    std::ranges::sort(order, {}, &Placed::place);
    for (const Placed& each : order) joined.add(*each.source, each.stream);
  }

  void finish() {
    if (is_inline()) {
      const Monitor::Activity activity(*context_.monitor, threads(), "prepare blocks", Monitor::Role::kBeside);
      outgoing_->run(progress());
    }
    if (sender_.joinable()) sender_.join();
    if (sender_error_) std::rethrow_exception(sender_error_);
    ranks_.check();
    ranks_.on_failure({});
    // Unmapping takes as long as mapping, so all threads share it.
    if (runs_.mapped)
      run_workers(context_.plan.threads,
                  [this](std::size_t worker, const StopFlag&) { runs_.mapped->let_go(worker, context_.plan.threads); });
  }

  void wake() {
    tables_->wake();
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
  std::optional<SizeTables> tables_;
  std::unique_ptr<BlockSource> source_;
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
                                 const ReadyOutput& output) {
  Exchange exchange(runs, plan, context, *output);
  try {
    return {output, exchange.run()};
  } catch (const std::exception& error) {
    report_failure(*context.ranks, error);
    exchange.abandon();
    throw;
  }
}

}  // namespace hetsort::sort
