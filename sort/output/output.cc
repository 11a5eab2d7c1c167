// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "io/field.h"
#include "io/format/compression.h"
#include "io/format/numpy.h"
#include "sort/failure/request_error.h"
#include "sort/machine/parallel.h"
#include "sort/model/shares.h"

namespace hetsort::sort {

namespace {

/// Throws: io::Error if `path` is written as a stream. Does not open it: a pipe would wait for its reader.
void require_regular(const std::string& path) {
  if (io::kind_at(path).value_or(io::FileKind::kRegular) != io::FileKind::kRegular)
    throw io::Error("write", path, "one of several OUTPUTs must be a regular file");
}

}  // namespace

Output::Output(const OutputRequest& request, comm::Communicator& ranks)
    : record_bytes_(request.record_bytes),
      hides_newlines_(request.hides_newlines),
      header_counts_(request.header_counts) {
  if (request.unique) filter_.emplace(*request.unique);
  const std::vector<std::string>& paths = request.options.paths;
  const bool several = paths.size() > 1;
  first_.resize(paths.size());
  volumes_.reserve(paths.size());
  for (const std::string& path : paths) {
    if (several) require_regular(path);
    const io::CompressionLevel compression =
        request.options.compression.value_or(io::CompressionLevel{io::compression_of_name(path)});
    const bool is_compressed = compression.format != io::Compression::kNone;
    if (several && is_compressed)
      throw RequestError(
          fmt::format("{} '{}': a compressed OUTPUT is written from front to back, so there can be only one",
                      io::field("output"), path));
    const bool from_front = filter_.has_value() || is_compressed;
    VolumeRequest asked{path, request.options, request.access, request.shared, from_front, compression};
    if (!several && !from_front && ranks.size() == 1) asked.kept = request.kept;
    const Volume& volume = *volumes_.emplace_back(std::make_unique<Volume>(std::move(asked), ranks));
    if (several && !volume.is_staged()) throw io::Error("write", path, "one of several OUTPUTs must be a file");
    if (request.options.verify && !volume.can_be_read_back())
      throw io::Error("verify", path == "-" ? "standard output" : path,
                      fmt::format("it cannot be read back; {} needs a file, named by {}", io::field("verify_output"),
                                  io::field("output")));
  }
}

std::string Output::name() const {
  if (is_memory()) return "in memory";
  std::vector<std::string> paths;
  paths.reserve(volumes_.size());
  for (const auto& volume : volumes_) paths.push_back(volume->path());
  return fmt::format("{}", fmt::join(paths, ", "));
}

bool Output::is_direct() const {
  return std::ranges::any_of(volumes_, [](const auto& volume) { return volume->files().direct != nullptr; });
}

void Output::reserve(std::uint64_t bytes) {
  bytes_ = bytes;
  const std::vector<std::uint64_t> records = equal_parts(bytes / record_bytes_, volumes_.size());
  std::uint64_t first = 0;
  for (std::size_t volume = 0; volume < volumes_.size(); ++volume) {
    first_[volume] = first;
    volumes_[volume]->reserve(records[volume] * record_bytes_);
    first += records[volume] * record_bytes_;
  }
}

void Output::cut_at(std::span<const std::uint64_t> cuts) {
  assert(cuts.size() == this->cuts().size() && std::ranges::is_sorted(cuts));
  std::ranges::copy(cuts, first_.begin() + 1);
}

std::size_t Output::volume_at(std::uint64_t byte) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(first_, byte) - first_.begin()) - 1;
}

std::uint64_t Output::first_of(std::size_t volume) const {
  return volume < first_.size() ? first_[volume] : UINT64_MAX;
}

std::vector<WrittenRange> Output::ranges(std::uint64_t bytes) const {
  std::vector<WrittenRange> ranges;
  ranges.reserve(volumes_.size());
  for (std::size_t volume = 0; volume < volumes_.size(); ++volume)
    ranges.push_back({volumes_[volume]->files().buffered, volumes_[volume]->first_byte(),
                      std::min(first_of(volume + 1), bytes) - first_of(volume)});
  return ranges;
}

void Output::set_header_bytes(std::uint64_t bytes) {
  for (const auto& volume : volumes_) volume->set_header_bytes(bytes);
}

void Output::begin(std::span<const std::byte> header) {
  if (!is_memory()) first_volume().take_place();
  if (!header.empty())
    for (const auto& volume : volumes_) volume->write_header(header);
  if (header_counts_) header_.assign(header.begin(), header.end());
}

/// Writes the number of records that each file has, which is known now.
void Output::correct_headers() {
  const std::vector<WrittenRange> written = ranges(bytes_);
  for (std::size_t volume = 0; volume < volumes_.size(); ++volume) {
    const std::uint64_t records = filter_ ? filter_->kept_records() : written[volume].bytes / record_bytes_;
    volumes_[volume]->rewrite_header(io::renumber_numpy_header(header_, records));
  }
}

void Output::prepare() {
  if (is_memory()) return;
  if (!header_.empty()) correct_headers();
  if (volumes_.size() > 1) {
    const std::vector<WrittenRange> written = ranges(bytes_);
    for (std::size_t volume = 0; volume < volumes_.size(); ++volume) volumes_[volume]->set_bytes(written[volume].bytes);
  }
  run_workers(volumes_.size(), [this](std::size_t volume, const StopFlag&) { volumes_[volume]->prepare(); });
}

void Output::publish() {
  for (; published_ < volumes_.size(); ++published_) volumes_[published_]->publish();
}

std::vector<std::string> Output::published() const {
  std::vector<std::string> paths;
  for (std::size_t volume = 0; volume < published_; ++volume)
    if (volumes_[volume]->is_staged()) paths.push_back(volumes_[volume]->path());
  return paths;
}

}  // namespace hetsort::sort
