// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/trace/sections.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace hetsort::research::trace {
namespace {

constexpr std::size_t kMaxFields = 8;  // messages to a neighbour in one exchange, as of so many arrays

/// A call that is no file access, with the file accesses before it.
struct Step {
  Call call;
  RankWork before{};
};

void add_use(std::vector<FileUse>& files, const FileUse& use) {
  auto found = std::ranges::find(files, use.file, &FileUse::file);
  if (found == files.end()) found = files.insert(files.end(), FileUse{.file = use.file});
  found->bytes_read += use.bytes_read;
  found->bytes_written += use.bytes_written;
  found->read_seconds += use.read_seconds;
  found->write_seconds += use.write_seconds;
  found->by_other_thread = found->by_other_thread || use.by_other_thread;
}

std::vector<Step> steps_of(const std::vector<Call>& calls) {
  std::vector<Step> steps;
  RankWork before;
  for (const Call& call : calls) {
    before.computing += call.computing;
    if (call.kind == CallKind::kRead) {
      add_use(before.files, {.file = call.partner,
                             .bytes_read = call.bytes,
                             .read_seconds = call.seconds,
                             .by_other_thread = call.by_other_thread});
    } else if (call.kind == CallKind::kWrite) {
      add_use(before.files, {.file = call.partner,
                             .bytes_written = call.bytes,
                             .write_seconds = call.seconds,
                             .by_other_thread = call.by_other_thread});
    } else {
      steps.push_back({call, std::move(before)});
      before = {};
    }
  }
  return steps;
}

/// The steps of all ranks, of which each rank has left a number behind.
class Reader {
 public:
  explicit Reader(const std::vector<std::vector<Call>>& calls) : at_(calls.size(), 0) {
    for (const std::vector<Call>& of_rank : calls) steps_.push_back(steps_of(of_rank));
  }

  int ranks() const { return static_cast<int>(steps_.size()); }
  /// The step behind so many others; an end if there is none.
  const Call& peek(int rank, std::size_t behind = 0) const {
    static const Call end;
    const auto place = static_cast<std::size_t>(rank);
    return at_[place] + behind < steps_[place].size() ? steps_[place][at_[place] + behind].call : end;
  }
  bool is(int rank, std::size_t behind, CallKind kind, int partner) const {
    const Call& call = peek(rank, behind);
    return call.kind == kind && call.partner == partner;
  }
  /// Adds what the rank does up to this step to its work.
  Call take(int rank, TracedSection& section) {
    const auto place = static_cast<std::size_t>(rank);
    Step& step = steps_[place][at_[place]++];
    add_work(section.ranks[place], step.before);
    return step.call;
  }
  bool works_before_next(int rank) const {
    const auto place = static_cast<std::size_t>(rank);
    const Step& step = steps_[place][at_[place]];
    return step.before.computing > 0 || !step.before.files.empty();
  }

  /// The work before the rank's next step.
  RankWork& work_before_next(int rank) {
    const auto place = static_cast<std::size_t>(rank);
    return steps_[place][at_[place]].before;
  }

  /// Whether the next step is one that all ranks take together.
  bool is_common(int rank) const {
    const Call& call = peek(rank);
    const bool of_all = call.partner == ranks();
    return call.kind == CallKind::kMark || call.kind == CallKind::kEnd ||
           ((call.kind == CallKind::kCollective || call.kind == CallKind::kAllToAll) && of_all);
  }

 private:
  std::vector<std::vector<Step>> steps_;
  std::vector<std::size_t> at_;
};

TracedSection section_of(const Reader& reader, Communication communication) {
  TracedSection section;
  section.communication = communication;
  section.ranks.resize(static_cast<std::size_t>(reader.ranks()));
  return section;
}

/// Takes `count` steps of the rank. The longest message counts.
void take_messages(Reader& reader, int rank, std::size_t count, TracedSection& section) {
  for (std::size_t i = 0; i < count; ++i)
    section.message_bytes = std::max(section.message_bytes, reader.take(rank, section).bytes);
}

/// Whether the rank's steps from `begin` on have this kind, with each other rank once.
bool with_each_other(const Reader& reader, int rank, std::size_t begin, CallKind kind) {
  std::vector<bool> seen(static_cast<std::size_t>(reader.ranks()), false);
  for (int i = 0; i + 1 < reader.ranks(); ++i) {
    const Call& call = reader.peek(rank, begin + static_cast<std::size_t>(i));
    if (call.kind != kind || call.partner < 0 || call.partner >= reader.ranks()) return false;
    if (seen[static_cast<std::size_t>(call.partner)]) return false;
    seen[static_cast<std::size_t>(call.partner)] = true;
  }
  return !seen[static_cast<std::size_t>(rank)];
}

std::optional<TracedSection> read_reduction(Reader& reader) {
  const Call& first = reader.peek(0);
  const int master = first.kind == CallKind::kSend ? first.partner : 0;
  const auto others = static_cast<std::size_t>(reader.ranks() - 1);
  if (others == 0 || master < 0 || master >= reader.ranks()) return std::nullopt;
  for (int rank = 0; rank < reader.ranks(); ++rank) {
    if (rank == master) continue;
    if (!reader.is(rank, 0, CallKind::kSend, master) || !reader.is(rank, 1, CallKind::kReceive, master))
      return std::nullopt;
  }
  if (!with_each_other(reader, master, 0, CallKind::kReceive) ||
      !with_each_other(reader, master, others, CallKind::kSend))
    return std::nullopt;
  TracedSection section = section_of(reader, Communication::kReduction);
  for (int rank = 0; rank < reader.ranks(); ++rank)
    if (rank != master) take_messages(reader, rank, 2, section);
  take_messages(reader, master, 1, section);
  RankWork& work = section.ranks[static_cast<std::size_t>(master)];
  const double before = work.computing;
  take_messages(reader, master, 2 * others - 1, section);
  work.combining = work.computing - before;
  work.computing = before;
  return section;
}

/// Neighbours in a line, or in a ring.
std::vector<int> neighbours(int rank, int ranks, bool ring) {
  std::vector<int> found;
  if (rank > 0 || ring) found.push_back((rank + ranks - 1) % ranks);
  if (rank + 1 < ranks || ring) found.push_back((rank + 1) % ranks);
  return found;
}

/// Whether the next steps of the rank are `fields` messages to each neighbour and as many from each.
bool exchanges(const Reader& reader, int rank, const std::vector<int>& partners, std::size_t fields) {
  std::array<std::array<std::size_t, 2>, 2> counts{};  // by neighbour and direction
  for (std::size_t i = 0; i < 2 * fields * partners.size(); ++i) {
    const Call& call = reader.peek(rank, i);
    const auto partner = std::ranges::find(partners, call.partner);
    if (partner == partners.end() || (call.kind != CallKind::kSend && call.kind != CallKind::kReceive)) return false;
    ++counts[static_cast<std::size_t>(partner - partners.begin())][call.kind == CallKind::kSend ? 0 : 1];
  }
  return std::ranges::all_of(std::span(counts).first(partners.size()),
                             [&](const auto& count) { return count[0] == fields && count[1] == fields; });
}

std::optional<TracedSection> read_exchange(Reader& reader) {
  const int ranks = reader.ranks();
  if (ranks < 2) return std::nullopt;
  for (std::size_t fields = 1; fields <= kMaxFields; ++fields)
    for (const bool ring : {false, true}) {
      if (ring && ranks < 3) continue;
      bool all = true;
      for (int rank = 0; rank < ranks && all; ++rank)
        all = exchanges(reader, rank, neighbours(rank, ranks, ring), fields);
      if (!all) continue;
      TracedSection section = section_of(reader, Communication::kNearestNeighbour);
      for (int rank = 0; rank < ranks; ++rank)
        take_messages(reader, rank, 2 * fields * neighbours(rank, ranks, ring).size(), section);
      section.message_bytes *= static_cast<std::int64_t>(fields);
      return section;
    }
  return std::nullopt;
}

/// Tiles that the rank takes from the rank before and passes on to the one after.
std::size_t tiles_of(const Reader& reader, int rank, int step) {
  const auto exists = [&](int other) { return other >= 0 && other < reader.ranks(); };
  std::size_t tiles = 0;
  for (std::size_t place = 0;; ++tiles) {
    if (exists(rank - step) && !reader.is(rank, place++, CallKind::kReceive, rank - step)) return tiles;
    if (exists(rank + step) && !reader.is(rank, place++, CallKind::kSend, rank + step)) return tiles;
  }
}

/// The last rank of a pipeline computes a tile after each message. Its messages leave the work on the last tile in the
/// next section: as much as on each tile before, which are `tiles` - 1, moves here.
void take_last_tile(Reader& reader, int rank, std::size_t tiles, TracedSection& section) {
  take_messages(reader, rank, 1, section);
  RankWork& work = section.ranks[static_cast<std::size_t>(rank)];
  const RankWork before = std::exchange(work, {});
  take_messages(reader, rank, tiles - 1, section);
  if (tiles > 1) {
    const double part = 1 / static_cast<double>(tiles - 1);
    RankWork& next = reader.work_before_next(rank);
    const double computing = std::min(next.computing, part * work.computing);
    next.computing -= computing;
    work.computing += computing;
    // All that it does with files of the pipeline until its next message belongs to the tile.
    std::erase_if(next.files, [&](const FileUse& use) {
      const bool ours = std::ranges::find(work.files, use.file, &FileUse::file) != work.files.end();
      if (ours) add_use(work.files, use);
      return ours;
    });
  }
  add_work(work, before);
}

std::optional<TracedSection> read_pipeline(Reader& reader) {
  if (reader.ranks() < 2) return std::nullopt;
  for (const int step : {1, -1}) {
    std::size_t tiles = tiles_of(reader, 0, step);
    for (int rank = 1; rank < reader.ranks() && tiles > 0; ++rank)
      tiles = std::min(tiles, tiles_of(reader, rank, step));
    if (tiles == 0) continue;
    TracedSection section = section_of(reader, Communication::kPipeline);
    section.tiles = static_cast<std::int64_t>(tiles);
    const int last = step > 0 ? reader.ranks() - 1 : 0;
    for (int rank = 0; rank < reader.ranks(); ++rank) {
      const bool inner = rank > 0 && rank + 1 < reader.ranks();
      if (rank == last)
        take_last_tile(reader, rank, tiles, section);
      else
        take_messages(reader, rank, (inner ? 2 : 1) * tiles, section);
    }
    return section;
  }
  return std::nullopt;
}

/// Everything up to the next call of all ranks.
TracedSection read_others(Reader& reader) {
  TracedSection section = section_of(reader, Communication::kAllToAll);
  std::int64_t bytes = 0;
  for (int rank = 0; rank < reader.ranks(); ++rank)
    while (!reader.is_common(rank)) {
      const Call call = reader.take(rank, section);
      if (call.kind == CallKind::kSend) bytes += call.bytes;
    }
  section.message_bytes = bytes;
  return section;
}

/// Requires: each rank's next step is one that all take together. Returns whether the program goes on.
bool read_common(Reader& reader, std::vector<TracedSection>& sections) {
  const CallKind kind = reader.peek(0).kind;
  bool work = false;
  // A rank that made too many calls has not recorded the last ones.
  for (int rank = 0; rank < reader.ranks(); ++rank)
    if (reader.peek(rank).kind == CallKind::kEnd) return false;
  for (int rank = 0; rank < reader.ranks(); ++rank) {
    if (reader.peek(rank).kind != kind)
      throw std::runtime_error("ranks call collectives, or end iterations, in different orders");
    work = work || reader.works_before_next(rank);
  }
  const bool mark = kind == CallKind::kMark;
  if (mark && !work && !sections.empty()) {
    for (int rank = 0; rank < reader.ranks(); ++rank) reader.take(rank, sections.back());
    sections.back().ends_iteration = true;
    return true;
  }
  TracedSection section = section_of(reader, mark                          ? Communication::kNone
                                             : kind == CallKind::kAllToAll ? Communication::kAllToAll
                                                                           : Communication::kReduction);
  std::int64_t all = 0;
  std::int64_t longest = 0;
  for (int rank = 0; rank < reader.ranks(); ++rank) {
    const std::int64_t bytes = reader.take(rank, section).bytes;
    all += bytes;
    longest = std::max(longest, bytes);
  }
  section.message_bytes = kind == CallKind::kAllToAll ? all : longest;
  section.ends_iteration = mark;
  sections.push_back(std::move(section));
  return true;
}

/// Computing and files behind the last communication.
void read_end(Reader& reader, std::vector<TracedSection>& sections) {
  TracedSection section = section_of(reader, Communication::kNone);
  for (int rank = 0; rank < reader.ranks(); ++rank)
    if (reader.peek(rank).kind == CallKind::kEnd) reader.take(rank, section);
  sections.push_back(std::move(section));
}

}  // namespace

void add_work(RankWork& to, const RankWork& work) {
  to.computing += work.computing;
  to.combining += work.combining;
  for (const FileUse& use : work.files) add_use(to.files, use);
}

std::vector<TracedSection> sections_of(const std::vector<std::vector<Call>>& calls) {
  Reader reader(calls);
  std::vector<TracedSection> sections;
  for (;;) {
    bool all_common = true;
    for (int rank = 0; rank < reader.ranks(); ++rank) all_common = all_common && reader.is_common(rank);
    if (all_common) {
      if (read_common(reader, sections)) continue;
      read_end(reader, sections);
      return sections;
    }
    std::optional<TracedSection> section = read_reduction(reader);
    if (!section) section = read_exchange(reader);
    if (!section) section = read_pipeline(reader);
    sections.push_back(section ? std::move(*section) : read_others(reader));
  }
}

}  // namespace hetsort::research::trace
