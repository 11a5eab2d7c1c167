// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "io/buffer.h"
#include "io/stopwatch.h"
#include "sort/exchange/exchange.h"
#include "sort/input/scatter_input.h"
#include "sort/merge/merge_runs.h"
#include "sort/output/publish.h"
#include "sort/plan/measured_shares.h"
#include "sort/plan/plan_sort.h"
#include "sort/runs/form_runs.h"
#include "sort/select/select_across_ranks.h"

namespace hetsort::sort {

namespace {

/// One sort on this rank: the phases and what they hand on.
class Sort {
 public:
  Sort(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result)
      : options_(options),
        ranks_(ranks),
        monitor_(monitor),
        result_(result),
        prepared_((begin("plan_shares", 0), options), ranks, monitor),
        arena_(prepared_.plan.memory.arena_bytes),
        context_{options.layout, prepared_.plan.memory, arena_.span(), &monitor, options.checksum} {
    const auto me = static_cast<std::size_t>(ranks.rank());
    result.threads = context_.plan.threads;
    result.output_untouched = prepared_.output.is_staged() || prepared_.output_is_shared;
    const Shares& told = prepared_.told_shares();
    result.strategy = told.strategy;
    result.predicted_seconds = told.predicted_seconds;
    result.planned_input_records = prepared_.input_shares.records[me];
    result.planned_output_records = prepared_.shares.records[me];
  }

  void run() {
    try {
      run_phases();
    } catch (const std::exception& error) {
      // Before anything is given back: messages on their way end with the failure.
      ranks_.fail(error.what());
      throw;
    }
  }

 private:
  void run_phases() {
    if (!options_.output_by_rates || prepared_.output_is_shared) reserve_output();
    form();
    // Parts, and several runs in memory, are the exchange's, even that of one rank.
    const bool alone = ranks_.size() == 1 && parts() == 1 && (!runs_.in_memory() || runs_.count() < 2);
    const OrderVerifier written = alone ? merge_alone() : merge_with_others();
    publish(written);
  }

  void reserve_output() {
    // The size of a stream is known to several ranks only.
    if (!prepared_.output.is_stream() && (ranks_.size() > 1 || !prepared_.input.is_stream()))
      prepared_.output.reserve(prepared_.plan.output_bytes);
  }

  /// Of this rank's output, merged one after the other. A stream is written from front to back anyway.
  std::uint64_t parts() const { return prepared_.output.is_stream() ? 1 : prepared_.parts(ranks_.rank()); }

  void begin(const char* phase, std::uint64_t bytes) {
    monitor_.begin_phase(phase, bytes);
    ranks_.set_phase(phase);
  }

  /// Rank 0 sends the others what only it has; their input is what comes.
  void scatter() {
    const int tag = ranks_.take_tags(kScatterTags);
    const auto all_have_posted = [this] {
      std::vector<std::uint64_t> posted{1};
      ranks_.all_reduce_sum(posted);
    };
    if (ranks_.rank() != 0) {
      scattered_.emplace(ranks_, result_.planned_input_records, options_.layout.record_bytes, tag);
      all_have_posted();
      prepared_.input.set_source([this](std::span<std::byte> into) { return scattered_->read(into); });
      return;
    }
    // A rank that fails before leaves rank 0 with no message that nobody takes.
    all_have_posted();
    begin("scatter", prepared_.total_records() * options_.layout.record_bytes - prepared_.input.total_bytes());
    prepared_.input.with_all(
        [&](const Input& all) { InputScatter(all, prepared_.input_shares, ranks_, tag).send(monitor_); });
  }

  void form() {
    Input& input = prepared_.input;
    if (prepared_.input_kind == InputKind::kRoot) scatter();
    begin("form_runs", prepared_.claims != nullptr ? 0 : input.total_bytes());
    if (prepared_.claims != nullptr) start_claims();
    const io::Stopwatch watch;
    const double used_before = processor_seconds();
    runs_ = form_runs(input, context_, {options_.temp_directories, options_.access}, *prepared_.segments);
    // Waits for answers to claims count: all stop claiming together, so that what each has claimed tells its rate.
    const Spent spent{std::max(0.0, watch.seconds() - runs_.waited_seconds), processor_seconds() - used_before};
    if (prepared_.claims != nullptr) result_.planned_input_records = runs_.input.records;
    result_.work = {runs_.input.records, seconds_of_work(spent, read_processor_quota(), context_.plan.threads)};
    if (options_.judge_work) result_.work = options_.judge_work(result_.work);
    if (runs_.in_memory() && ranks_.size() > 1) sort_what_will_be_cut();
    if (scattered_) scattered_->finish();
    scattered_.reset();
    result_.input = runs_.input;
    result_.in_memory = runs_.in_memory();
    result_.runs = runs_.count();
    if (ranks_.size() == 1 && input.is_stream() && !prepared_.output.is_stream())
      prepared_.output.reserve(runs_.input.records * options_.layout.record_bytes);
  }

  /// Buckets are sorted when they are looked into, else while blocks are sent. Where there are as many cuts as buckets
  /// the selection looks into nearly all, with one thread: then all threads sort them before.
  void sort_what_will_be_cut() {
    std::size_t buckets = 0;
    for (const MemoryRun& run : runs_.kept) buckets += run.index->buckets();
    const std::size_t cuts = static_cast<std::size_t>(ranks_.size()) * context_.plan.threads;
    if (cuts * runs_.kept.size() >= buckets) sort_buckets(runs_.kept, context_);
  }

  void start_claims() {
    // What spills has room on the disk.
    const std::uint64_t capacity = prepared_.capacity_bytes / options_.layout.record_bytes;
    prepared_.claims->start(prepared_.plan.spills ? prepared_.total_records() : capacity);
  }

  OrderVerifier merge_alone() {
    std::vector<Cut> cuts;
    if (!result_.in_memory) {
      begin("select_splitters", 0);
      reduce_runs(runs_, context_, most_runs(context_, runs_.space->block_bytes()));
      cuts = select_ranges(runs_, context_, prepared_.output);
    }
    begin("merge_runs", runs_.input.records * options_.layout.record_bytes);
    return result_.in_memory ? write_memory_run(runs_, context_, prepared_.output)
                             : merge_spilled_runs(runs_, cuts, context_, prepared_.output);
  }

  OrderVerifier merge_with_others() {
    begin("select_splitters", 0);
    if (options_.output_by_rates) settle_shares();
    ExchangePlan plan{.ranks = ranks_};
    plan.block_bytes = context_.plan.spill_block_bytes;
    plan.shares = prepared_.shares.records;
    agree_on_runs(plan);
    cut_runs(plan);
    begin("exchange", prepared_.shares.records[plan.me()] * options_.layout.record_bytes);
    return exchange_and_merge(runs_, plan, context_, prepared_.output);
  }

  /// What is claimed twice, or never, is no matter of order or fingerprints.
  void check_claims() {
    std::vector<std::uint64_t> read{runs_.input.records};
    ranks_.all_reduce_sum(read);
    if (read[0] != prepared_.total_records())
      throw ProofError(fmt::format("the ranks have claimed {} of {} records", read[0], prepared_.total_records()));
  }

  void settle_shares() {
    const std::vector<Work> work = gather_work(result_.work, ranks_);
    if (prepared_.claims != nullptr) check_claims();
    prepared_.settle_shares(shares_by_rates(prepared_.total_records(), work), options_, ranks_.rank());
    result_.planned_output_records = prepared_.shares.records[static_cast<std::size_t>(ranks_.rank())];
    if (!prepared_.output_is_shared) reserve_output();
  }

  /// Tells all ranks how many runs each has, after as many further merge passes as memory asks for.
  void agree_on_runs(ExchangePlan& plan) {
    const std::uint64_t threads = prepared_.output.is_stream() ? 1 : context_.plan.threads;
    while (true) {
      const std::uint64_t staging = threads * context_.plan.staging_bytes;
      std::vector<std::uint64_t> memory;  // of each rank, for blocks
      plan.of_rank.clear();
      for (const std::vector<std::uint64_t>& rank :
           all_gather({threads, parts(), runs_.count(), fewest_runs(runs_), arena_.span().size(), staging}, ranks_)) {
        plan.of_rank.push_back({rank[0], rank[1], rank[2], rank[3], {}});
        memory.push_back(rank[4] - std::min(rank[4], rank[5]));
      }
      const std::uint64_t most = runs_that_fit(plan, memory);
      const auto fits = [most](const RankRuns& rank) { return rank.runs <= std::max(most, rank.fewest); };
      if (runs_.in_memory() || std::all_of(plan.of_rank.begin(), plan.of_rank.end(), fits)) break;
      if (ranks_.rank() == 0) monitor_.note("memory has not two blocks for each run: neighbours are merged first");
      reduce_runs(runs_, context_, most);
      result_.runs = runs_.count();
    }
    tell_places(plan);
  }

  /// Tells all ranks where in the whole input each run begins.
  void tell_places(ExchangePlan& plan) {
    std::uint64_t most = 0;
    for (const RankRuns& rank : plan.of_rank) most = std::max(most, rank.runs);
    std::vector<std::uint64_t> places;
    for (const MemoryRun& run : runs_.kept) places.push_back(run.first_record);
    for (const SpilledRun& run : runs_.spilled) places.push_back(run.first_record);
    places.resize(most);
    const std::vector<std::vector<std::uint64_t>> all = all_gather(places, ranks_);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      plan.of_rank[rank].places.assign(all[rank].begin(),
                                       all[rank].begin() + static_cast<std::ptrdiff_t>(plan.of_rank[rank].runs));
  }

  /// The most runs a rank may keep so that every rank has two blocks for each of its streams.
  static std::uint64_t runs_that_fit(const ExchangePlan& plan, const std::vector<std::uint64_t>& memory) {
    std::uint64_t most = 1;
    for (const RankRuns& rank : plan.of_rank) most = std::max(most, rank.runs);
    constexpr std::uint64_t kMinRuns = 2;  // a pass that merges two into one goes on
    for (; most > kMinRuns; --most) {
      ExchangePlan fewer{.ranks = plan.ranks, .of_rank = plan.of_rank};
      for (RankRuns& rank : fewer.of_rank) rank.runs = std::min(rank.runs, std::max(most, rank.fewest));
      bool fits = true;
      for (std::size_t rank = 0; rank < memory.size(); ++rank) {
        const std::uint64_t own = fewer.of_rank[rank].threads * fewer.of_rank[rank].runs;
        const std::uint64_t in = fewer.of_rank[rank].threads * fewer.streams_in(rank) + own;
        fits = fits && exchange_memory_bytes(fewer.streams_out(rank), in, plan.block_bytes) <= memory[rank];
      }
      if (fits) break;
    }
    return most;
  }

  /// Cuts all runs at the borders of all ranges of all ranks.
  void cut_runs(ExchangePlan& plan) {
    std::vector<std::uint64_t> borders;
    const std::uint64_t first = prepared_.first_output_record(ranks_.rank());
    for (std::size_t rank = 0; rank < plan.of_rank.size(); ++rank) {
      std::uint64_t at = prepared_.first_output_record(static_cast<int>(rank));
      for (const std::uint64_t part : equal_parts(prepared_.shares.records[rank], plan.of_rank[rank].parts)) {
        for (const std::uint64_t range : equal_parts(part, plan.of_rank[rank].threads)) {
          borders.push_back(at);
          if (rank == plan.me()) plan.range_first.push_back(at - first);
          at += range;
        }
      }
      if (rank == plan.me()) plan.range_first.push_back(at - first);
    }
    borders.push_back(prepared_.total_records());
    std::unique_ptr<SortedRuns> view;
    if (runs_.in_memory())
      view = std::make_unique<MemoryRunsView>(runs_.kept, context_.beside_shared(0).scratch);
    else
      view = std::make_unique<SpilledRunsView>(runs_.spilled, *runs_.space, options_.layout);
    plan.cuts =
        select_across_ranks({*view, plan.of_rank[plan.me()].places, options_.layout.key_bytes}, borders, ranks_);
  }

  void publish(const OrderVerifier& written) {
    begin("publish", 0);
    result_.output = written.digest();
    if (runs_.space) result_.bytes_spilled = runs_.space->taken_bytes();
    // Giving back the temporary space takes the file system a while; the output is synced meanwhile.
    const std::jthread release([space = std::move(runs_.space)]() mutable { space.reset(); });
    Output& output = prepared_.output;
    const OrderVerifier all = prove(runs_.input, written, output.path(), ranks_);
    result_.all = all.digest();
    if (options_.checksum) result_.checksum = all.checksum().text();
    output.prepare();
    std::vector<std::uint64_t> all_are_ready{1};
    ranks_.all_reduce_sum(all_are_ready);
    result_.output_untouched = false;
    output.publish();
    monitor_.end_phases();
  }

  const SortOptions& options_;
  comm::Communicator& ranks_;
  Monitor& monitor_;
  RankResult& result_;
  PreparedSort prepared_;
  io::Buffer arena_;
  RankContext context_;
  std::optional<ScatteredInput> scattered_;
  FormedRuns runs_;
};

}  // namespace

void sort_records(const SortOptions& options, comm::Communicator& ranks, Monitor& monitor, RankResult& result) {
  try {
    Sort(options, ranks, monitor, result).run();
  } catch (const std::exception& error) {
    ranks.fail(error.what());
    throw;
  }
}

}  // namespace hetsort::sort
