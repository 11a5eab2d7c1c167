// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "io/calls/retry.h"

namespace hetsort::io {

namespace {

// Magic numbers that <linux/magic.h> of older systems lacks.
constexpr std::uint32_t kCifs = 0xFF534D42;
constexpr std::uint32_t kSmb2 = 0xFE534D42;
constexpr std::uint32_t kCeph = 0x00C36400;
constexpr std::uint32_t kLustre = 0x0BD00BD0;
constexpr std::uint32_t kGpfs = 0x47504653;
constexpr std::array<std::uint32_t, 9> kNetworkSystems{
    NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, AFS_SUPER_MAGIC, V9FS_MAGIC, kCifs, kSmb2, kCeph, kLustre, kGpfs};
constexpr std::array<std::uint32_t, 3> kMemorySystems{TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC};

}  // namespace

namespace {

Storage storage_of(const struct statfs& system) {
  const auto type = static_cast<std::uint32_t>(system.f_type);
  const auto is_among = [&](const auto& list) { return std::find(list.begin(), list.end(), type) != list.end(); };
  if (is_among(kMemorySystems)) return Storage::kMemory;
  return is_among(kNetworkSystems) ? Storage::kNetwork : Storage::kDisk;
}

}  // namespace

Storage storage_of(int descriptor) {
  struct statfs system {};
  return retry_interrupted([&] { return ::fstatfs(descriptor, &system); }) == 0 ? storage_of(system) : Storage::kDisk;
}

Storage storage_of(const std::string& path) {
  struct statfs system {};
  return retry_interrupted([&] { return ::statfs(path.c_str(), &system); }) == 0 ? storage_of(system) : Storage::kDisk;
}

std::string human_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // At 1023.95 and above, one digit behind the point would show 1024.0 of the smaller unit.
  for (; size >= 1023.95; size /= 1024) ++unit;
  std::array<char, 32> text{};
  // Unlike printf, it writes a point in a program of any locale.
  char* const end = std::to_chars(text.data(), text.data() + text.size(), size, std::chars_format::fixed, 1).ptr;
  return std::string(text.data(), end) + " " + kUnits[unit];
}

}  // namespace hetsort::io
