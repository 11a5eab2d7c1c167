// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>

#include "io/calls/buffer.h"
#include "io/calls/retry.h"
#include "io/calls/system_calls.h"

namespace hetsort::io {

namespace {

std::mutex list_mutex;  // a thread holds it while it changes the list of announced objects

}  // namespace

constinit std::atomic<const MappedFiles*> MappedFiles::announced{nullptr};

std::size_t system_page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

bool can_map_files(std::size_t page_bytes) { return page_bytes <= Buffer::kAlignmentBytes; }

MappedFiles::~MappedFiles() {
  const std::lock_guard lock(list_mutex);
  std::atomic<const MappedFiles*>* link = &announced;
  while (*link != nullptr && *link != this) link = &link->load()->next_;
  if (*link == this) link->store(next_.load());
}

void MappedFiles::lay_over(const File& file, std::span<std::byte> part, std::uint64_t offset_bytes) {
  assert(can_map_files());
  const std::size_t past_border = offset_bytes % Buffer::kAlignmentBytes;
  std::byte* const first = part.data() - past_border;
  if (syscalls::map_over(file.descriptor(), first, part.size() + past_border, offset_bytes - past_border) != 0)
    throw Error("map", file.name(), errno);
  ranges_.push_back({first, part.data() + part.size(), file.name()});
}

void MappedFiles::announce() const {
  const std::lock_guard lock(list_mutex);
  next_ = announced.load();
  announced = this;
}

void MappedFiles::let_go(std::size_t part, std::size_t parts) const {
  constexpr std::size_t kPage = Buffer::kAlignmentBytes;
  for (const Range& range : ranges_) {
    const auto pages = (static_cast<std::size_t>(range.end - range.begin) + kPage - 1) / kPage;
    const std::size_t first = pages * part / parts;
    const std::size_t count = pages * (part + 1) / parts - first;
    // If this is refused, the end of the mapping does the work.
    if (count > 0) static_cast<void>(::madvise(range.begin + first * kPage, count * kPage, MADV_DONTNEED));
  }
}

void populate(const File& file, std::span<const std::byte> part) {
  const auto past_border = reinterpret_cast<std::uintptr_t>(part.data()) % Buffer::kAlignmentBytes;
  const std::byte* const first = part.data() - past_border;
  const std::size_t bytes = part.size() + past_border;
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = retry_interrupted([&] { return syscalls::populate(first + done, bytes - done); });
    if (got < 0 && errno == EFAULT) throw Error("read", file.name(), "truncated while it was read");
    if (got < 0) throw Error("read", file.name(), errno);
    done += static_cast<std::size_t>(got);
  }
}

const char* mapped_file_at(const void* address) noexcept {
  for (const MappedFiles* files = MappedFiles::announced; files != nullptr; files = files->next_)
    for (const MappedFiles::Range& range : files->ranges_)
      if (address >= range.begin && address < range.end) return range.name.c_str();
  return nullptr;
}

}  // namespace hetsort::io
