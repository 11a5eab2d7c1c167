// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <span>

#include "sort/output/output_queues.h"

namespace hetsort::sort {

namespace {

/// Below this direct I/O wins little over the page cache, from which the next program may want to read.
constexpr std::uint64_t kSmallOutputBytes = std::uint64_t{4} << 20;

}  // namespace

Output::Output(const OutputRequest& options, comm::Communicator& ranks) : options_(options) {
  if (options.shared && ranks.rank() != 0) {
    share(ranks);
    return;
  }
  if (options.path == "-") {
    open_standard_output();
  } else {
    staged_.emplace(options.path, options.shared ? io::Staging::kNamed : io::Staging::kNameless);
    stream_ = !staged_->is_staged();
    files_.buffered = &staged_->file();
  }
  // Ranks write standard output, even a plain file, through rank 0: only it has it.
  if (options.shared) {
    stream_ = stream_ || options.path == "-";
    share(ranks);
  }
}

/// Rank 0 tells the others where the output is staged; "" = nowhere, it is a stream. Nobody goes on before all have
/// opened it: when rank 0 fails it removes what it staged, and a rank that comes late would report the file as missing
/// instead of the reason.
void Output::share(comm::Communicator& ranks) {
  comm::Bytes told;
  if (ranks.rank() == 0 && !stream_) {
    const std::string part = staged_->part_path();
    told.assign(std::as_bytes(std::span(part)).begin(), std::as_bytes(std::span(part)).end());
  }
  told = ranks.broadcast(std::move(told));
  stream_ = told.empty();
  if (stream_) return;
  if (ranks.rank() != 0) {
    const std::string part(reinterpret_cast<const char*>(told.data()), told.size());
    joined_.emplace(part, options_.path);
    files_.buffered = &joined_->file();
  }
  std::uint64_t joined = 1;
  ranks.all_reduce_sum({&joined, 1});
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
  if (!is_staged() && !joined_) return;
  if (is_staged()) staged_->set_final_size(bytes);
  const io::File& file = *files_.buffered;
  // Without syncing, the page cache is faster: nobody waits for the disk.
  if (bytes < kSmallOutputBytes || !options_.sync) return;
  backend_ = io::choose_backend(file, options_.access);
  if (backend_ == io::Backend::kBuffered) return;
  if (is_staged()) file.allocate(bytes);
  direct_ = file.reopen(O_WRONLY | O_DIRECT);
  files_.direct = &direct_;
}

std::unique_ptr<io::Queue> Output::make_queue(std::size_t depth) {
  if (stream_) return std::make_unique<StreamQueue>(depth);
  if (backend_ == io::Backend::kBuffered) return std::make_unique<TurnsQueue>(turn_, depth);
  return io::make_queue(backend_, depth);
}

void Output::prepare() {
  direct_ = io::File();
  if (staged_) staged_->prepare(options_.sync);
  if (joined_) joined_->prepare(options_.sync);
}

void Output::publish() {
  if (joined_) return joined_->leave();
  if (staged_) {
    staged_->publish(options_.sync);
    return;
  }
  // Whoever writes to this descriptor next goes on behind the records.
  if (files_.buffered == nullptr) return;
  if (!stream_) ::lseek(STDOUT_FILENO, static_cast<off_t>(first_byte_ + bytes_), SEEK_SET);
  if (options_.sync) standard_output_.sync();
}

}  // namespace hetsort::sort
