// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Messages between ranks as they arrive. The first byte selects the kind.
#include <stdexcept>

#include "comm/base/failure.h"
#include "comm/base/packing.h"
#include "comm/transport/frame.h"
#include "comm/transport/hello.h"
#include "tests/fuzz/fuzz.h"

namespace hetsort::fuzz::test {

namespace {

constexpr int kKinds = 5;

std::string seed_of(int kind, std::span<const std::byte> bytes) {
  return static_cast<char>(kind) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

comm::Bytes packed() {
  comm::Packer packer;
  packer.text("text");
  packer.values(std::vector<std::uint64_t>{1, 2, 3});
  packer.number(7);
  return packer.take();
}

void read_frame(std::span<const std::byte> bytes) {
  const std::optional<comm::FramePart> part = comm::read_first_part(bytes);
  if (!part) return;
  require(part->bytes.size() <= part->length && part->length <= comm::kMaxControlBytes,
          "a frame is longer than allowed");
}

void read_values(const comm::Bytes& bytes) {
  comm::Unpacker unpacker(bytes);
  require(unpacker.text().size() <= bytes.size(), "a text is longer than its message");
  require(unpacker.values<std::uint64_t>().size() <= bytes.size() / sizeof(std::uint64_t),
          "values are longer than their message");
  unpacker.number();
  unpacker.end();
}

}  // namespace

std::vector<std::string> seeds() {
  const comm::Bytes some(100, std::byte{'x'});
  return {seed_of(0, comm::make_frame(3, some).first),
          seed_of(0, comm::make_frame(4, comm::Bytes(5000)).first),
          seed_of(1, comm::encode(comm::Hello{{"0.1.0", "5f0c", "x86_64 little-endian"}, "nodeA"})),
          seed_of(2, comm::encode(comm::HelloVerdict{"nodeA", "because"})),
          seed_of(3, comm::encode(comm::FailureRecord{5, 1, "write out: No space left on device"}, 1000)),
          seed_of(4, packed())};
}

std::vector<std::string> words() {
  return {std::string(8, '\0'), std::string(8, '\xff'), "hetsort hello 1\n", "crc32c ", "refused ", "version "};
}

}  // namespace hetsort::fuzz::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hetsort;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const auto* const first = reinterpret_cast<const std::byte*>(data) + 1;
  const comm::Bytes bytes(first, first + size - 1);
  try {
    switch (data[0] % fuzz::test::kKinds) {
      case 0:
        fuzz::test::read_frame(bytes);
        break;
      case 1:
        comm::decode_hello(bytes);
        break;
      case 2:
        comm::decode_verdict(bytes);
        break;
      case 3:
        comm::decode_failure(bytes);
        break;
      default:
        fuzz::test::read_values(bytes);
    }
  } catch (const std::runtime_error&) {
    // The message was refused.
  }
  return 0;
}
