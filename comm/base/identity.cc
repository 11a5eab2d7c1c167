// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/base/identity.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/utsname.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "comm/base/crc32c.h"

namespace hetsort::comm {

namespace {

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The GNU build ID among the notes of a segment; empty if there is none.
std::string build_id(std::span<const unsigned char> notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  ElfW(Nhdr) note{};
  while (notes.size() >= sizeof(note)) {
    std::memcpy(&note, notes.data(), sizeof(note));
    const std::size_t name_end = sizeof(note) + padded(note.n_namesz);
    const std::size_t end = name_end + padded(note.n_descsz);
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kOwner.size() &&
        std::memcmp(notes.data() + sizeof(note), kOwner.data(), kOwner.size()) == 0)
      return hexadecimal(notes.subspan(name_end, note.n_descsz));
    notes = notes.subspan(end);
  }
  return {};
}

/// Whether this function is part of a loaded program or library.
bool contains_this_code(const dl_phdr_info& info) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&contains_this_code);
  return std::any_of(info.dlpi_phdr, info.dlpi_phdr + info.dlpi_phnum, [&](const auto& segment) {
    const ElfW(Addr) begin = info.dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && here >= begin && here - begin < segment.p_memsz;
  });
}

/// The callback of dl_iterate_phdr(): finds the build ID of the program or loaded library that contains this code.
int find_build_id(dl_phdr_info* info, std::size_t /*size*/, void* found) {
  if (!contains_this_code(*info)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    std::string id = build_id({notes, segment.p_memsz});
    if (id.empty()) continue;
    *static_cast<std::string*>(found) = std::move(id);
    break;
  }
  return 1;  // stops the iteration: the others do not matter
}

std::string executable_checksum() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  Bytes part(std::size_t{1} << 20);
  std::uint32_t checksum = 0;
  std::uint64_t size_bytes = 0;
  do {
    file.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(part.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    checksum = crc32c(std::span(part).first(count), checksum);
    size_bytes += count;
  } while (file);
  return size_bytes == 0 ? "unknown" : fmt::format("crc{:08x}-{}", checksum, size_bytes);
}

ProgramIdentity find_identity() {
  ProgramIdentity identity;
  identity.version = HETSORT_VERSION;
  ::dl_iterate_phdr(find_build_id, &identity.build);
  if (identity.build.empty()) identity.build = executable_checksum();
  utsname system{};
  const std::string architecture = ::uname(&system) == 0 ? system.machine : "unknown";
  identity.machine = architecture + (std::endian::native == std::endian::little ? " little-endian" : " big-endian");
  return identity;
}

}  // namespace

const ProgramIdentity& own_identity() {
  static const ProgramIdentity identity = find_identity();
  return identity;
}

}  // namespace hetsort::comm
