// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>

#include "sort/merge/merge_runs.h"
#include "sort/output/place_proof.h"

namespace hetsort::sort {

namespace {

/// Has room for records that are verified and then forgotten.
class ForgetfulSink : public RecordSink {
 public:
  /// `staging`: room for one record and the slack.
  explicit ForgetfulSink(std::span<std::byte> staging) : room_(staging.first(staging.size() - kReadableSlackBytes)) {}

  std::span<std::byte> room() override { return room_; }
  void commit(std::size_t /*bytes*/) override {}
  void finish() override {}

 private:
  std::span<std::byte> room_;
};

/// Writes the numbers of the elements' records. Their size is a power of two as a rule, and shifts are faster.
void write_numbers(std::span<const Element> elements, std::size_t record_bytes, std::uint64_t* to) {
  if (std::has_single_bit(record_bytes)) {
    const int shift = std::countr_zero(record_bytes);
    for (const Element element : elements) *to++ = place_of(element) >> shift;
  } else {
    for (const Element element : elements) *to++ = place_of(element) / record_bytes;
  }
}

}  // namespace

OrderVerifier write_places(const FormedRuns& runs, const RankContext& context, std::span<std::uint64_t> places) {
  const bool by_elements = is_proven_by_elements(context);
  OrderVerifier none(by_elements ? element_layout() : context.layout);
  if (runs.kept.empty()) return none;
  const MemoryRun& run = runs.kept.front();
  const std::span<const IndexTask> tasks = run.index->tasks();
  std::vector<std::uint64_t> first{0};
  for (const IndexTask& task : tasks) first.push_back(first.back() + task.records);
  assert(first.back() == places.size());
  std::vector<OrderVerifier> verifiers(tasks.size(), none);
  std::atomic<std::size_t> next{0};
  run_workers(context.plan.threads, [&](std::size_t worker, const StopFlag& stop) {
    const Monitor::Activity activity(*context.monitor, worker, "sort buckets and write");
    const ThreadMemory memory = context.beside_shared(worker);
    ForgetfulSink sink(memory.staging);
    for (std::size_t task = next++; task < tasks.size(); task = next++) {
      if (stop.load(std::memory_order_relaxed)) throw Stopped{};
      const std::span<const Element> elements = run.index->sorted(tasks[task], run.memory.base, memory.scratch);
      write_numbers(elements, context.layout.record_bytes, places.data() + first[task]);
      if (by_elements)
        verifiers[task].inspect(std::as_bytes(elements).data(), elements.size());
      else
        write_permuted(elements, run.memory, {sink, &verifiers[task], stop});
      context.monitor->advance(tasks[task].bytes);
    }
  });
  OrderVerifier whole = none;
  for (OrderVerifier& verifier : verifiers) whole.append(std::move(verifier));
  return whole;
}

}  // namespace hetsort::sort
