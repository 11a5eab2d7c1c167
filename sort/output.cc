// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output.h"

#include <fcntl.h>
#include <unistd.h>

#include "sort/output_queues.h"

namespace hetsort::sort {

namespace {

/// Below this direct I/O wins nothing over the page cache.
constexpr std::uint64_t kSmallOutputBytes = std::uint64_t{64} << 20;

}  // namespace

Output::Output(const OutputOptions& options) : options_(options) {
  if (options.path == "-") {
    open_standard_output();
  } else {
    staged_.emplace(options.path);
    stream_ = !staged_->is_staged();
    files_.buffered = &staged_->file();
  }
}

void Output::open_standard_output() {
  standard_output_ = io::standard_output();
  files_.buffered = &standard_output_;
  // A plain file can be written in any order, behind what others wrote there before; not so with O_APPEND.
  const off_t position = ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  stream_ =
      position < 0 || flags < 0 || (flags & O_APPEND) != 0 || standard_output_.status().kind != io::FileKind::kRegular;
  if (!stream_) first_byte_ = static_cast<std::uint64_t>(position);
}

void Output::reserve(std::uint64_t bytes) {
  bytes_ = bytes;
  if (!is_staged()) return;
  staged_->set_final_size(bytes);
  // Without syncing, the page cache is faster: nobody waits for the disk.
  if (bytes < kSmallOutputBytes || !options_.sync) return;
  backend_ = io::choose_backend(staged_->file(), options_.access);
  if (backend_ == io::Backend::kBuffered) return;
  staged_->file().allocate(bytes);
  direct_ = staged_->file().reopen(O_WRONLY | O_DIRECT);
  files_.direct = &direct_;
}

std::unique_ptr<io::Queue> Output::make_queue(std::size_t depth) {
  if (stream_) return std::make_unique<StreamQueue>(depth);
  if (backend_ == io::Backend::kBuffered) return std::make_unique<TurnsQueue>(turn_, depth);
  return io::make_queue(backend_, depth);
}

void Output::publish() {
  direct_ = io::File();
  if (staged_) {
    staged_->publish(options_.sync);
    return;
  }
  // Whoever writes to this descriptor next goes on behind the records.
  if (!stream_) ::lseek(STDOUT_FILENO, static_cast<off_t>(first_byte_ + bytes_), SEEK_SET);
  if (options_.sync) standard_output_.sync();
}

}  // namespace hetsort::sort
