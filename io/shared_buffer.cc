// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/shared_buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/calls/buffer.h"
#include "io/nonce.h"

namespace hetsort::io {

namespace {

/// The proof has the last page of the memory.
std::size_t mapped_bytes(std::size_t bytes) { return Buffer::rounded(bytes) + Buffer::kAlignmentBytes; }

bool may_map_much() {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

}  // namespace

std::optional<SharedBuffer> SharedBuffer::create(std::size_t bytes) {
  SharedBuffer buffer;
  if (!may_map_much()) return std::nullopt;
  buffer.descriptor_ = ::memfd_create("hetsort", MFD_CLOEXEC);
  if (buffer.descriptor_ < 0 || ::ftruncate(buffer.descriptor_, static_cast<off_t>(mapped_bytes(bytes))) != 0 ||
      !buffer.map(bytes))
    return std::nullopt;
  buffer.name_ = {.process = ::getpid(), .descriptor = buffer.descriptor_};
  std::ranges::copy(make_nonce(), buffer.name_.proof.begin());
  std::ranges::copy(std::as_bytes(std::span(buffer.name_.proof)), buffer.proof().begin());
  return buffer;
}

std::optional<SharedBuffer> SharedBuffer::open(const Name& name, std::size_t bytes) {
  SharedBuffer buffer;
  if (name.process == 0 || !may_map_much()) return std::nullopt;
  const std::string path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.descriptor);
  buffer.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (buffer.descriptor_ < 0) return std::nullopt;
  // The process may be another one that has the same number in another container: its file may be anything.
  struct stat found {};
  if (::fstat(buffer.descriptor_, &found) != 0 || found.st_size != static_cast<off_t>(mapped_bytes(bytes)) ||
      !buffer.map(bytes) || !std::ranges::equal(buffer.proof(), std::as_bytes(std::span(name.proof))))
    return std::nullopt;
  ::close(std::exchange(buffer.descriptor_, -1));
  return buffer;
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : name_(other.name_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

SharedBuffer::~SharedBuffer() {
  if (data_ != nullptr) ::munmap(data_, mapped_bytes(size_bytes_));
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool SharedBuffer::map(std::size_t bytes) {
  void* const mapped = ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(mapped);
  size_bytes_ = bytes;
  return true;
}

std::span<std::byte> SharedBuffer::proof() const {
  return {data_ + mapped_bytes(size_bytes_) - Buffer::kAlignmentBytes, std::tuple_size_v<decltype(Name::proof)>};
}

}  // namespace hetsort::io
