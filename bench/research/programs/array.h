// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows that a rank has of a distributed variable, in memory or in a file without a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/file.h"

namespace hetsort::research::programs {

struct ArrayShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t tiles = 1;  ///< columns are divided among tiles, and the elements of a tile are adjacent
};

class Array {
 public:
  /// `folder`: where its file is; empty = in memory. `disk_bytes_per_second`: of a slow disk that is emulated by
  /// waiting; 0 = as fast as the file is. All elements are 0. Throws: io::Error.
  Array(const ArrayShape& shape, const std::string& folder, double disk_bytes_per_second);

  bool on_disk() const { return file_.is_open(); }
  const ArrayShape& shape() const { return shape_; }
  std::int64_t tile_columns() const { return shape_.columns / shape_.tiles; }

  /// Requires: in memory.
  double* in_memory(std::int64_t tile, std::int64_t row) { return memory_.data() + element(tile, row); }
  /// Reads rows from `row` on, as many as `into` holds. Thread safety: one call at a time.
  void read(std::int64_t tile, std::int64_t row, std::span<double> into) const;
  void write(std::int64_t tile, std::int64_t row, std::span<const double> from);
  /// As write(), as fast as the file is, whatever disk is emulated: for what the array holds at first.
  void set(std::int64_t tile, std::int64_t row, std::span<const double> from);

 private:
  std::int64_t element(std::int64_t tile, std::int64_t row) const {
    return (tile * shape_.rows + row) * tile_columns();
  }

  ArrayShape shape_;
  double rate_;
  std::vector<double> memory_;
  io::File file_;
};

}  // namespace hetsort::research::programs
