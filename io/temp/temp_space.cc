// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/temp/temp_space.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <limits>
#include <vector>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/file.h"

namespace hetsort::io {

namespace {

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  return a > max - b ? max : a + b;
}

std::uint64_t free_bytes(int descriptor) {
  struct statvfs status {};
  // A file system without blocks (some FUSE) reports no meaningful size.
  if (retry_interrupted([&] { return ::fstatvfs(descriptor, &status); }) != 0 || status.f_blocks == 0)
    return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

/// The space that one file system needs for all of its folders.
struct Load {
  const SpaceNeed* first = nullptr;
  Space space;
  std::uint64_t bytes = 0;
  std::string others;  // " with ROLE PATH" for each further one
};

void check(const Load& load) {
  if (load.bytes <= load.space.free_bytes) return;
  throw Error(load.first->role, load.first->path + load.others,
              "needs " + human_size(load.bytes) + ", " + human_size(load.space.free_bytes) + " free");
}

}  // namespace

Space inspect_space(const std::string& path, const std::string& role) {
  const int fd = retry_interrupted([&] { return syscalls::open(path.c_str(), O_PATH | O_DIRECTORY, 0); });
  if (fd < 0) throw Error(role, path, errno);
  const File folder(fd, path);
  try {
    const File trial = File::create_nameless(path);
    return {path, trial.status().device, free_bytes(trial.descriptor()), storage_of(trial.descriptor())};
  } catch (const Error& error) {
    throw Error(role, path, error.error_number());
  }
}

void check_space(std::span<const SpaceNeed> needs) {
  std::vector<Load> loads;
  for (const SpaceNeed& need : needs) {
    const Space space = inspect_space(need.path, need.role);
    Load* load = nullptr;
    for (Load& each : loads)
      if (each.space.device == space.device) load = &each;
    if (load == nullptr) load = &loads.emplace_back(Load{&need, space, 0, ""});
    load->bytes = saturated_sum(load->bytes, need.bytes);
    if (load->first != &need) load->others.append(" with ").append(need.role).append(" ").append(need.path);
  }
  for (const Load& load : loads) check(load);
}

}  // namespace hetsort::io
