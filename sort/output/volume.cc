// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/volume.h"

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

Volume::Volume(VolumeRequest request, comm::Communicator& ranks) : request_(std::move(request)) {
  open(ranks);
  header_at_ = std::exchange(first_byte_, first_byte_ + request_.header_bytes);
}

void Volume::open(comm::Communicator& ranks) {
  if (request_.shared && ranks.rank() != 0) {
    share(ranks);
    return;
  }
  if (request_.path == "-") {
    open_standard_output();
  } else {
    staged_.emplace(request_.path, request_.shared ? io::Staging::kNamed : io::Staging::kNameless);
    if (request_.owner_only) staged_->set_owner_only();
    stream_ = !staged_->is_staged() || request_.from_front;
    files_.buffered = &staged_->file();
  }
  // Several ranks write standard output, even a plain file, through rank 0: only rank 0 has it.
  if (request_.shared) {
    stream_ = stream_ || request_.path == "-";
    share(ranks);
  }
}

/// Rank 0 sends the others an invitation to the staged output; an empty one if the output is a stream. No rank goes on
/// before all have opened it: a rank 0 that fails removes what it staged, and a rank that comes late would report the
/// file as missing instead of the reason.
void Volume::share(comm::Communicator& ranks) {
  comm::Bytes invitation;
  if (ranks.rank() == 0 && !stream_) invitation = pack(staged_->invite());
  invitation = ranks.broadcast(std::move(invitation));
  stream_ = invitation.empty();
  if (stream_) return;
  if (ranks.rank() != 0) {
    joined_.emplace(unpack(invitation), request_.path);
    files_.buffered = &joined_->file();
  }
  ranks.barrier();
}

void Volume::open_standard_output() {
  standard_output_ = io::standard_output();
  files_.buffered = &standard_output_;
  // A plain file can be written in any order, behind the bytes that it has already, but not with O_APPEND.
  const off_t position = ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  stream_ = request_.from_front || position < 0 || flags < 0 || (flags & O_APPEND) != 0 ||
            standard_output_.status().kind != io::FileKind::kRegular;
  if (!stream_) first_byte_ = static_cast<std::uint64_t>(position);
}

void Volume::reserve(std::uint64_t bytes) {
  set_bytes(bytes);
  if (!is_staged() && !joined_) return;
  const std::uint64_t size = request_.header_bytes + bytes;
  const io::File& file = *files_.buffered;
  // Without syncing, the page cache is faster: nothing waits for the disk.
  if (bytes < kSmallOutputBytes || !request_.sync) return;
  backend_ = io::choose_write_backend(file, request_.access);
  if (backend_ == io::Backend::kBuffered) return;
  if (is_staged()) file.allocate(size);
  direct_ = file.reopen(O_WRONLY | O_DIRECT);
  if (direct_.is_open())
    files_.direct = &direct_;
  else
    backend_ = io::Backend::kBuffered;
}

void Volume::set_bytes(std::uint64_t bytes) {
  bytes_ = bytes;
  if (is_staged()) staged_->set_final_size(request_.header_bytes + bytes);
}

void Volume::write_header(std::span<const std::byte> header) {
  if (joined_ || files_.buffered == nullptr) return;  // rank 0 writes it
  if (stream_)
    files_.buffered->write(header);
  else
    files_.buffered->write_at(header, header_at_);
}

std::unique_ptr<io::Queue> Volume::make_queue(std::size_t depth) {
  if (stream_) return std::make_unique<StreamQueue>(depth);
  if (backend_ == io::Backend::kBuffered) return std::make_unique<TurnsQueue>(turn_, depth);
  return io::make_queue(backend_, depth);
}

void Volume::prepare() {
  direct_ = io::File();
  if (staged_) staged_->prepare(request_.sync);
  if (joined_) joined_->prepare(request_.sync);
}

void Volume::publish() {
  if (joined_) return joined_->leave();
  if (staged_) {
    staged_->publish(request_.sync);
    return;
  }
  // What is written to this descriptor next goes behind the records.
  if (files_.buffered == nullptr) return;
  if (!stream_) ::lseek(STDOUT_FILENO, static_cast<off_t>(first_byte_ + bytes_), SEEK_SET);
  if (request_.sync) standard_output_.sync();
}

}  // namespace hetsort::sort
