// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that files which all ranks are to share are the same files on every host.
//
// In: on each rank the opened INPUTs. Out: nothing, or an error that names rank, host and path.
// Two hosts may have different files of one name and size. If each rank read its share of its own, half of each file
// would be sorted.
//
// The contents decide, because nothing else is the same on all hosts for every kind of shared storage:
//   - Device numbers are given by each host, so they are never compared.
//   - Inode numbers are the server's on NFS and Lustre, but FUSE file systems such as sshfs make up their own.
//   - An NFS client may report an old modification time for some seconds after another host has written.
//   - The bytes of the first and the last block are the same for every host that reads the same file.
// So files whose blocks differ are refused, and files with equal blocks are the same if inode or time are equal as
// well. If both differ, more blocks are compared: then the files are equal copies, or different files.
// Cost: two reads a file and two small collectives; in doubt about 64 reads and one more collective.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "sort/input/input.h"

namespace hetsort::sort {

struct FileIdentity {
  std::uint64_t inode = 0;
  std::uint64_t modified_nanoseconds = 0;
  std::uint64_t fingerprint = 0;  ///< fingerprint of size, first block and last block
};

/// The fingerprint of an input's size and of up to `blocks` of its blocks, evenly spread, the first and the last among
/// them. Throws: io::Error.
std::uint64_t sampled_fingerprint(const InputFile& input, std::uint64_t blocks);

enum class Sameness : std::uint8_t { kSame, kInDoubt, kDifferent };

/// Compares what two hosts see under one name.
Sameness compare(const FileIdentity& mine, const FileIdentity& other);

/// Compares each input with rank 0's. Collective. Throws: RequestError on the rank that sees another file; io::Error;
/// PeerFailed. Requires: inputs of known size, as many on all ranks.
void check_inputs_are_shared(const Input& input, comm::Communicator& ranks);

}  // namespace hetsort::sort
