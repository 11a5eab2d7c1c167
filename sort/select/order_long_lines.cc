// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/select/order_long_lines.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "comm/base/packing.h"

namespace hetsort::sort {

namespace {

/// A line of some run of some rank, with which others are compared.
struct Pivot {
  std::string key;
  std::uint64_t place = 0;  // place of its run
  std::uint64_t first = 0;  // position of its first byte in the run
  std::uint64_t end = 0;
};

/// Bytes [first, last) of one run, which may hold the cut.
struct OpenBytes {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

comm::Bytes encode_keys(const std::vector<std::optional<std::string>>& keys) {
  comm::Packer packer;
  for (const std::optional<std::string>& key : keys) {
    packer.number(key ? 1 : 0);
    packer.text(key.value_or(""));
  }
  return packer.take();
}

std::vector<std::optional<std::string>> decode_keys(const comm::Bytes& bytes, std::size_t count) {
  comm::Unpacker unpacker(bytes);
  std::vector<std::optional<std::string>> keys(count);
  for (std::optional<std::string>& key : keys) {
    const bool known = unpacker.number() != 0;
    std::string text = unpacker.text();
    if (known) key = std::move(text);
  }
  unpacker.end();
  return keys;
}

/// Finds one cut among the lines that have the same first bytes of the key.
class LongLineSearch {
 public:
  /// `key`: the first bytes of the key that these lines have in common.
  LongLineSearch(const RankedRuns& mine, const std::string& key, comm::Communicator& communicator)
      : mine_(mine), communicator_(communicator) {
    for (std::size_t run = 0; run < mine.runs.count(); ++run) {
      const auto begins_with_less = [&](const std::string& other) { return other < key; };
      const auto begins_with_at_most = [&](const std::string& other) { return other <= key; };
      const std::uint64_t first = border(run, {0, mine.runs.records(run)}, &SortedRuns::front, begins_with_less);
      const std::uint64_t last = border(run, {first, mine.runs.records(run)}, &SortedRuns::front, begins_with_at_most);
      open_.push_back({first, last});
    }
  }

  /// Moves `cut`, which is at position `rank` of the output, to its exact place.
  void move(std::uint64_t rank, Cut& cut) {
    std::uint64_t before = 0;
    std::uint64_t runs = 0;
    for (const OpenBytes& open : open_) {
      before += open.first;
      runs += open.first < open.last ? 1 : 0;
    }
    std::vector<std::uint64_t> sums{before, runs};
    communicator_.all_reduce_sum(sums);
    // If only one run has such lines, they are in order already.
    if (sums[1] < 2) return;
    if (rank < sums[0]) refuse_summaries();
    search(rank - sums[0]);
    for (std::size_t run = 0; run < open_.size(); ++run) cut[run] = open_[run].first;
  }

 private:
  /// Narrows the open bytes until each run's first open byte is at the cut, before which `target` of them lie.
  void search(std::uint64_t target) {
    std::vector<std::uint64_t> left = gather(bytes_left());
    std::mt19937_64 draws;  // NOLINT(cert-msc51-cpp): all ranks draw the same
    while (true) {
      std::uint64_t all = 0;
      for (const std::uint64_t bytes : left) all += bytes;
      if (target >= all) refuse_summaries();
      const Pivot pivot = share_pivot(left, draws() % all);
      const std::uint64_t line_bytes = pivot.end - pivot.first;
      std::vector<std::uint64_t> borders;
      std::uint64_t own_below = 0;
      for (std::size_t run = 0; run < open_.size(); ++run) {
        borders.push_back(lines_below(run, pivot));
        own_below += borders.back() - open_[run].first;
      }
      const std::vector<std::uint64_t> below = gather(own_below);
      std::uint64_t all_below = 0;
      for (const std::uint64_t bytes : below) all_below += bytes;
      const bool is_below = target < all_below;
      if (!is_below) target -= all_below;
      const bool is_pivot = !is_below && target < line_bytes;
      for (std::size_t run = 0; run < open_.size(); ++run) {
        const bool has_pivot = mine_.places[run] == pivot.place;
        (is_below ? open_[run].last : open_[run].first) = borders[run];
        if (has_pivot && !is_below) open_[run].first += is_pivot ? target : line_bytes;
      }
      if (is_pivot) return;
      if (!is_below) target -= line_bytes;
      left = gather(bytes_left());
    }
  }

  std::uint64_t bytes_left() const {
    std::uint64_t bytes = 0;
    for (const OpenBytes& open : open_) bytes += open.last - open.first;
    return bytes;
  }
  std::vector<std::uint64_t> gather(std::uint64_t mine) { return communicator_.all_gather(mine); }

  /// The line that contains byte `number` of all open bytes of all ranks, on all ranks.
  Pivot share_pivot(const std::vector<std::uint64_t>& left, std::uint64_t number) {
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator_.rank()); ++rank) {
      if (number < left[rank]) return receive_pivot({});
      number -= left[rank];
    }
    for (std::size_t run = 0; run < open_.size(); ++run) {
      const std::uint64_t bytes = open_[run].last - open_[run].first;
      if (number < bytes) return receive_pivot(pack_pivot(run, open_[run].first + number));
      number -= bytes;
    }
    return receive_pivot({});
  }
  /// The line that contains byte `position` of a run. Lines may be long: no copy is left.
  comm::Bytes pack_pivot(std::size_t run, std::uint64_t position) const {
    const RunLine line = mine_.runs.line(run, position);
    mine_.runs.forget();
    comm::Packer packer;
    packer.reserve(line.key.size() + 4 * sizeof(std::uint64_t));
    packer.text(line.key);
    packer.number(mine_.places[run]);
    packer.number(line.first);
    packer.number(line.end);
    return packer.take();
  }
  /// Returns, on all ranks, the pivot that one of them passes. `mine`: empty on all ranks but one.
  Pivot receive_pivot(comm::Bytes mine) {
    const auto either = [](comm::Bytes low, comm::Bytes high) { return std::move(low.empty() ? high : low); };
    const comm::Bytes bytes = communicator_.all_reduce(std::move(mine), either);
    comm::Unpacker unpacker(bytes);
    Pivot pivot;
    pivot.key = unpacker.text();
    pivot.place = unpacker.number();
    pivot.first = unpacker.number();
    pivot.end = unpacker.number();
    unpacker.end();
    if (pivot.first >= pivot.end) refuse_summaries();
    return pivot;
  }

  /// The end of the lines that are below the pivot, in the open bytes of a run.
  std::uint64_t lines_below(std::size_t run, const Pivot& pivot) const {
    const OpenBytes& open = open_[run];
    const std::uint64_t place = mine_.places[run];
    if (place == pivot.place) {
      if (pivot.first < open.first || pivot.end > open.last) refuse_summaries();
      return pivot.first;
    }
    const auto is_below = [&](const std::string& key) {
      const int order = key.compare(pivot.key);
      return order != 0 ? order < 0 : place < pivot.place;
    };
    return border(run, open, &SortedRuns::line, is_below);
  }

  /// The end of the lines in the bytes `open` of a run for whose key, as `read` returns it, is_below(key) holds.
  template <typename IsBelow>
  std::uint64_t border(std::size_t run, OpenBytes open, RunLine (SortedRuns::*read)(std::size_t, std::uint64_t),
                       const IsBelow& is_below) const {
    while (open.first < open.last) {
      const RunLine line = (mine_.runs.*read)(run, open.first + (open.last - open.first) / 2);
      mine_.runs.forget();
      if (is_below(line.key))
        open.first = std::min(open.last, std::max(open.first + 1, line.end));
      else
        open.last = std::min(open.last - 1, std::max(open.first, line.first));
    }
    return open.first;
  }

  const RankedRuns& mine_;
  comm::Communicator& communicator_;
  std::vector<OpenBytes> open_;
};

/// The lowest key at each cut among all ranks, of which the first bytes count; nothing if the cut is at the end of all
/// runs.
std::vector<std::optional<std::string>> keys_at(const RankedRuns& mine, std::span<const Cut> cuts,
                                                comm::Communicator& communicator) {
  std::vector<std::optional<std::string>> keys(cuts.size());
  const auto keep_lower = [](std::optional<std::string>& key, std::optional<std::string> other) {
    if (!key || (other && *other < *key)) key = std::move(other);
  };
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (std::size_t run = 0; run < cuts[i].size(); ++run)
      if (cuts[i][run] < mine.runs.records(run)) keep_lower(keys[i], mine.runs.key(run, cuts[i][run]));
    mine.runs.forget();
  }
  const auto lowest = [&](const comm::Bytes& low, const comm::Bytes& high) {
    std::vector<std::optional<std::string>> of_low = decode_keys(low, cuts.size());
    std::vector<std::optional<std::string>> of_high = decode_keys(high, cuts.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) keep_lower(of_low[i], std::move(of_high[i]));
    return encode_keys(of_low);
  };
  return decode_keys(communicator.all_reduce(encode_keys(keys), lowest), cuts.size());
}

}  // namespace

void order_long_lines(const RankedRuns& mine, std::span<const std::uint64_t> ranks, std::vector<Cut>& cuts,
                      comm::Communicator& communicator) {
  constexpr std::size_t kCutsAMessage = (std::size_t{1} << 20) / (kMarkKeyBytes + 2 * sizeof(std::uint64_t));
  for (std::size_t first = 0; first < cuts.size(); first += kCutsAMessage) {
    const std::span<Cut> some = std::span(cuts).subspan(first, std::min(kCutsAMessage, cuts.size() - first));
    const std::vector<std::optional<std::string>> keys = keys_at(mine, some, communicator);
    for (std::size_t i = 0; i < some.size(); ++i)
      if (keys[i] && keys[i]->size() == kMarkKeyBytes)
        LongLineSearch(mine, *keys[i], communicator).move(ranks[first + i], some[i]);
  }
}

}  // namespace hetsort::sort
