// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory that several processes of one host map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace hetsort::io {

/// Zeroed memory that this process maps, and other processes of the same user as well, once they know its name. It has
/// no name in any file system, and the kernel frees it with its last mapping, also after `kill -9`. Pages count as used
/// by each process that has touched them. Movable, not copyable.
class SharedBuffer {
 public:
  /// What a process needs to find the memory of another. Plain data, which messages can carry; zeros name no memory.
  struct Name {
    std::int64_t process = 0;
    std::int64_t descriptor = 0;
    std::array<char, 32> proof{};  ///< random text, which the memory holds as well
  };

  /// Creates memory of so many bytes, or nothing where the kernel refuses or `ulimit -v` limits what may be mapped.
  static std::optional<SharedBuffer> create(std::size_t bytes);
  /// Maps the memory of `bytes` bytes that another process has created. Nothing if there is none with that name on this
  /// host, as seen by this process.
  static std::optional<SharedBuffer> open(const Name& name, std::size_t bytes);

  SharedBuffer(SharedBuffer&& other) noexcept;
  SharedBuffer& operator=(SharedBuffer&& other) noexcept;
  ~SharedBuffer();

  /// The name of memory that create() has made. It is good while this object exists.
  const Name& name() const { return name_; }
  std::byte* data() const { return data_; }
  std::span<std::byte> span() const { return {data_, size_bytes_}; }

 private:
  SharedBuffer() = default;
  bool map(std::size_t bytes);
  std::span<std::byte> proof() const;

  Name name_;
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace hetsort::io
