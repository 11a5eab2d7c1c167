// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "comm/packing.h"
#include "sort/output/output_queues.h"

namespace hetsort::sort {

namespace {

/// For smaller outputs direct I/O gains little over the page cache, from which the next program may read them.
constexpr std::uint64_t kSmallOutputBytes = std::uint64_t{4} << 20;

comm::Bytes pack(const io::Invitation& invitation) {
  comm::Packer packer;
  for (const std::string* text : {&invitation.folder, &invitation.part, &invitation.nonce}) packer.text(*text);
  packer.number(invitation.user);
  packer.number(invitation.mode);
  return packer.take();
}

io::Invitation unpack(const comm::Bytes& bytes) {
  comm::Unpacker unpacker(bytes);
  io::Invitation invitation;
  for (std::string* text : {&invitation.folder, &invitation.part, &invitation.nonce}) *text = unpacker.text();
  invitation.user = static_cast<unsigned>(unpacker.number());
  invitation.mode = static_cast<unsigned>(unpacker.number());
  unpacker.end();
  return invitation;
}

}  // namespace

Output::Output(const OutputRequest& options, comm::Communicator& ranks) : options_(options) {
  if (options.unique) filter_.emplace(*options.unique);
  open(ranks);
  header_at_ = std::exchange(first_byte_, first_byte_ + options.header_bytes);
  if (options.read_back && !can_be_read_back())
    throw io::Error("verify", options.path == "-" ? "standard output" : options.path,
                    "it cannot be read back; --verify-output needs a file, named by -o");
}

void Output::open(comm::Communicator& ranks) {
  if (options_.shared && ranks.rank() != 0) {
    share(ranks);
    return;
  }
  if (options_.path == "-") {
    open_standard_output();
  } else {
    staged_.emplace(options_.path, options_.shared ? io::Staging::kNamed : io::Staging::kNameless);
    stream_ = !staged_->is_staged() || filter_;
    files_.buffered = &staged_->file();
  }
  // Several ranks write standard output, even a plain file, through rank 0: only rank 0 has it.
  if (options_.shared) {
    stream_ = stream_ || options_.path == "-";
    share(ranks);
  }
}

/// Rank 0 sends the others an invitation to the staged output; an empty one if the output is a stream. No rank goes on
/// before all have opened it: a rank 0 that fails removes what it staged, and a rank that comes late would report the
/// file as missing instead of the reason.
void Output::share(comm::Communicator& ranks) {
  comm::Bytes invitation;
  if (ranks.rank() == 0 && !stream_) invitation = pack(staged_->invite());
  invitation = ranks.broadcast(std::move(invitation));
  stream_ = invitation.empty();
  if (stream_) return;
  if (ranks.rank() != 0) {
    joined_.emplace(unpack(invitation), options_.path);
    files_.buffered = &joined_->file();
  }
  ranks.barrier();
}

void Output::open_standard_output() {
  standard_output_ = io::standard_output();
  files_.buffered = &standard_output_;
  // A plain file can be written in any order, behind the bytes that it has already, but not with O_APPEND.
  const off_t position = ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  stream_ = filter_ || position < 0 || flags < 0 || (flags & O_APPEND) != 0 ||
            standard_output_.status().kind != io::FileKind::kRegular;
  if (!stream_) first_byte_ = static_cast<std::uint64_t>(position);
}

void Output::reserve(std::uint64_t bytes) {
  bytes_ = bytes;
  if (!is_staged() && !joined_) return;
  const std::uint64_t size = options_.header_bytes + bytes;
  if (is_staged()) staged_->set_final_size(size);
  const io::File& file = *files_.buffered;
  // Without syncing, the page cache is faster: nothing waits for the disk.
  if (bytes < kSmallOutputBytes || !options_.sync) return;
  backend_ = io::choose_write_backend(file, options_.access);
  if (backend_ == io::Backend::kBuffered) return;
  if (is_staged()) file.allocate(size);
  direct_ = file.reopen(O_WRONLY | O_DIRECT);
  if (direct_.is_open())
    files_.direct = &direct_;
  else
    backend_ = io::Backend::kBuffered;
}

void Output::write_header(std::span<const std::byte> header) {
  if (joined_ || files_.buffered == nullptr) return;  // rank 0 writes it
  if (stream_)
    files_.buffered->write(header);
  else
    files_.buffered->write_at(header, header_at_);
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
  // What is written to this descriptor next goes behind the records.
  if (files_.buffered == nullptr) return;
  if (!stream_) ::lseek(STDOUT_FILENO, static_cast<off_t>(first_byte_ + bytes_), SEEK_SET);
  if (options_.sync) standard_output_.sync();
}

}  // namespace hetsort::sort
