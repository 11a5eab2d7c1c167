// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/output/volume.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "comm/base/packing.h"
#include "sort/machine/memory_budget.h"
#include "sort/output/output_queues.h"

namespace hetsort::sort {

namespace {

/// Direct I/O gains little for smaller outputs, and the page cache lets the next program read them from memory.
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
  if (!request_.shared) writers_on_host_ = static_cast<std::uint64_t>(ranks.ranks_on_host());
  open(ranks);
}

void Volume::set_header_bytes(std::uint64_t bytes) { first_byte_ += bytes - std::exchange(header_bytes_, bytes); }

void Volume::open(comm::Communicator& ranks) {
  if (request_.shared && ranks.rank() != 0) {
    share(ranks);
    return;
  }
  if (request_.path == "-") {
    open_standard_output();
  } else {
    staged_.emplace(request_.path,
                    request_.kept     ? io::Staging::kKept
                    : request_.shared ? io::Staging::kNamed
                                      : io::Staging::kNameless,
                    request_.kept.value_or(""));
    if (request_.options.owner_only) staged_->set_owner_only();
    stream_ = !staged_->is_staged() || request_.from_front;
    files_.buffered = &staged_->file();
  }
  if (request_.shared) share(ranks);
}

std::uint64_t Volume::plan_compressors(std::size_t threads, std::uint64_t bytes) {
  const io::CompressionLevel& level = request_.compression;
  if (level.format == io::Compression::kNone || files_.buffered == nullptr) return 0;
  const std::size_t compressing = io::threads_that_compress(level, threads, bytes);
  auto compressor = io::make_compressor(level, compressing);
  if (staged_)
    staged_->write_through(std::move(compressor));
  else
    standard_output_.write_through(std::move(compressor));
  return io::compressor_bytes(level, compressing);
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

/// Standard output may be shared with other processes: a shell's group, xargs, a program that pipes into this one. A
/// plain file is therefore written in order, by write(2), or in a range that take_place() takes. The latter goes
/// through an open file of its own, because a flag such as O_APPEND that another process sets would divert the writes.
void Volume::open_standard_output() {
  standard_output_ = io::standard_output();
  files_.buffered = &standard_output_;
  stream_ = true;
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (request_.from_front || request_.shared || flags < 0 || (flags & O_APPEND) != 0 ||
      ::lseek(STDOUT_FILENO, 0, SEEK_CUR) < 0 || standard_output_.status().kind != io::FileKind::kRegular)
    return;
  placed_ = standard_output_.reopen(O_WRONLY);
  stream_ = !placed_.is_open();
}

void Volume::take_place() {
  if (!placed_.is_open() || stream_ || files_.buffered == &placed_) return;
  stream_ = !bytes_;
  if (stream_) return;
  const std::uint64_t size = header_bytes_ + *bytes_;
  // One step for all processes that share the descriptor: what they write from now on goes behind the records.
  const off_t end = ::lseek(STDOUT_FILENO, static_cast<off_t>(size), SEEK_CUR);
  if (end < 0) throw io::Error("write", standard_output_.name(), errno == EINVAL ? EFBIG : errno);
  header_at_ = static_cast<std::uint64_t>(end) - size;
  first_byte_ = header_at_ + header_bytes_;
  files_.buffered = &placed_;
}

void Volume::reserve(std::uint64_t bytes) {
  set_bytes(bytes);
  if (!is_staged() && !joined_) return;
  const std::uint64_t size = header_bytes_ + bytes;
  const io::File& file = *files_.buffered;
  if (bytes < kSmallOutputBytes) return;
  // Without syncing, the page cache is faster, if it has room: nothing waits for the disk.
  if (!request_.options.sync && writers_on_host_ * bytes <= read_memory_limits().cacheable_bytes()) return;
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
  if (is_staged()) staged_->set_final_size(header_bytes_ + bytes);
}

void Volume::write_header(std::span<const std::byte> header) {
  assert(header.size() == header_bytes_);
  if (joined_ || files_.buffered == nullptr) return;  // rank 0 writes it
  if (stream_)
    files_.buffered->write(header);
  else
    files_.buffered->write_at(header, header_at_);
}

void Volume::rewrite_header(std::span<const std::byte> header) {
  if ((is_staged() && can_be_read_back()) || (placed_.is_open() && !stream_))
    files_.buffered->write_at(header, header_at_);
}

std::unique_ptr<io::Queue> Volume::make_queue(std::size_t depth) {
  if (stream_) return std::make_unique<StreamQueue>(depth);
  if (backend_ == io::Backend::kBuffered) return std::make_unique<TurnsQueue>(turn_, depth);
  return io::make_queue(backend_, depth);
}

void Volume::prepare() {
  direct_ = io::File();
  standard_output_.finish_writing();
  if (staged_) staged_->prepare(request_.options.sync);
  if (joined_) joined_->prepare(request_.options.sync);
}

void Volume::publish() {
  if (joined_) return joined_->leave();
  if (staged_) {
    staged_->publish(request_.options.sync);
    return;
  }
  if (files_.buffered == nullptr) return;
  if (request_.options.sync) files_.buffered->sync();
}

}  // namespace hetsort::sort
