// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/research/programs/array.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace hetsort::research::programs {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits until a disk of this rate has transferred the bytes that it began with at `begin`.
void emulate_disk(Clock::time_point begin, std::size_t bytes, double bytes_per_second) {
  if (bytes_per_second > 0)
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                              static_cast<double>(bytes) / bytes_per_second)));
}

}  // namespace

Array::Array(const ArrayShape& shape, const std::string& folder, double disk_bytes_per_second)
    : shape_(shape), rate_(disk_bytes_per_second) {
  const auto elements = static_cast<std::size_t>(shape.rows * shape.columns);
  if (folder.empty()) {
    memory_.assign(elements, 0.0);
    return;
  }
  file_ = io::File::create_nameless(folder);
  file_.truncate(elements * sizeof(double));
}

void Array::read(std::int64_t tile, std::int64_t row, std::span<double> into) const {
  const std::int64_t first = element(tile, row);
  if (!on_disk()) {
    std::copy_n(memory_.begin() + first, into.size(), into.begin());
    return;
  }
  const auto begin = Clock::now();
  file_.read_at(std::as_writable_bytes(into), static_cast<std::uint64_t>(first) * sizeof(double));
  emulate_disk(begin, into.size_bytes(), rate_);
}

void Array::write(std::int64_t tile, std::int64_t row, std::span<const double> from) {
  const auto begin = Clock::now();
  set(tile, row, from);
  if (on_disk()) emulate_disk(begin, from.size_bytes(), rate_);
}

void Array::set(std::int64_t tile, std::int64_t row, std::span<const double> from) {
  const std::int64_t first = element(tile, row);
  if (on_disk())
    file_.write_at(std::as_bytes(from), static_cast<std::uint64_t>(first) * sizeof(double));
  else
    std::ranges::copy(from, memory_.begin() + first);
}

}  // namespace hetsort::research::programs
