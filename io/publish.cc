// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "io/calls/retry.h"
#include "io/calls/seam.h"
#include "io/error.h"
#include "io/target.h"

namespace hetsort::io {

namespace {

constexpr unsigned kPartMode = 0600;
// Names that other processes of this number hold, in other containers that share the folder.
constexpr unsigned kMostNamesTried = 100;

std::atomic<bool> begun{false};

/// Whether an open file without a name can be given one here: that goes through /proc/self/fd.
bool can_link_descriptors() { return seam::access("/proc/self/fd", X_OK) == 0; }

/// Bytes that a network file system still holds back come out on close; a copy of the descriptor asks for them.
void flush_by_close(const File& file) {
  const int copy = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || (::close(copy) != 0 && errno != EINTR)) throw Error("write", file.name(), errno);
}

}  // namespace

bool publication_has_begun() noexcept { return begun; }

OutputFile::OutputFile(const std::string& path, Staging staging) : path_(path) {
  Target target = find_target(path);
  if (target.direct.is_open()) {
    file_ = std::move(target.direct);
    return;
  }
  folder_ = std::move(target.folder);
  name_ = std::move(target.name);
  target_ = folder_ + "/" + name_;
  exists_ = target.exists;
  existing_mode_ = target.mode;
  existing_user_ = target.user;
  existing_group_ = target.group;
  remove_stale_parts(folder_, name_);
  stage(staging);
  staged_ = true;
}

void OutputFile::stage(Staging staging) {
  if (staging == Staging::kNamed || !can_link_descriptors()) return stage_named();
  const int fd = retry_interrupted([&] { return seam::open(folder_.c_str(), O_TMPFILE | O_RDWR, kPartMode); });
  if (fd >= 0) {
    file_ = File(fd, path_);
  } else if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) {
    stage_named();
  } else {
    throw Error("create", path_, errno, "in folder " + folder_);
  }
}

void OutputFile::stage_named() {
  for (unsigned attempt = 0; attempt < kMostNamesTried; ++attempt) {
    PartName part = PartName::reserve(folder_, name_, attempt);
    if (part.is_empty()) continue;
    const int fd = retry_interrupted(
        [&] { return seam::open(part.path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, kPartMode); });
    if (fd < 0) {
      const int error = errno;
      part.forget();
      if (error == EEXIST) continue;
      throw Error("create", path_, error, "in folder " + folder_);
    }
    file_ = File(fd, path_);
    part_ = std::move(part);
    lock_part(fd);
    // Someone who took it for stale before it was locked has removed it; then the next name is tried.
    struct stat now {};
    if (seam::fstat(fd, &now) != 0) throw Error("stat", path_, errno);
    if (now.st_nlink > 0) return;
    part_.forget();
  }
  throw Error("create", path_, EEXIST, "in folder " + folder_);
}

void OutputFile::copy_permissions() const {
  unsigned mode = existing_mode_;
  if (!exists_) {
    mode = 0666 & ~current_umask();
  } else if (::fchown(file_.descriptor(), existing_user_, existing_group_) != 0 &&
             ::fchown(file_.descriptor(), static_cast<uid_t>(-1), existing_group_) != 0) {
    // Not our group: what its members may do, members of ours may only where anybody may.
    mode &= ~070U | ((mode & 07U) << 3U);
  }
  if (retry_interrupted([&] { return seam::change_mode(file_.descriptor(), mode & 0777); }) != 0)
    throw Error("set permissions of", path_, errno);
}

void OutputFile::prepare(bool sync) {
  if (prepared_) return;
  if (staged_) {
    if (final_size_bytes_ && file_.status().size_bytes != *final_size_bytes_) file_.truncate(*final_size_bytes_);
    copy_permissions();
  }
  if (sync) {
    file_.sync();
  } else {
    flush_by_close(file_);
  }
  prepared_ = true;
}

void OutputFile::publish(bool sync) {
  prepare(sync);
  if (staged_) {
    begun = true;
    // Opened before anything appears, so that what can fail early does.
    File folder;
    if (sync) folder = open_folder(folder_, path_);
    const bool fresh = !exists_ && part_.is_empty();
    if (fresh) link_into_place();
    if (!fresh || exists_) replace();
    if (sync) sync_folder(folder, exists_);
  }
  file_.close();
}

JoinedOutput::JoinedOutput(const std::string& part_path, const std::string& path) {
  const int fd = retry_interrupted([&] { return seam::open(part_path.c_str(), O_RDWR | O_NOFOLLOW, 0); });
  if (fd < 0) throw Error("open", path, errno, "staged by rank 0 as " + part_path);
  file_ = File(fd, path);
  part_ = PartName::adopt(part_path);
}

void JoinedOutput::prepare(bool sync) {
  if (sync) file_.sync();
  file_.close();
}

void OutputFile::link_into_place() {
  if (retry_interrupted([&] { return seam::link_descriptor(file_.descriptor(), target_.c_str()); }) == 0) return;
  if (errno != EEXIST) throw Error("publish", path_, errno);
  exists_ = true;  // it came while we wrote: it was to be this output, so replace it
}

void OutputFile::replace() {
  if (part_.is_empty()) lock_part(file_.descriptor());
  for (unsigned attempt = 0; part_.is_empty(); ++attempt) {
    if (attempt == kMostNamesTried) throw Error("publish", path_, EEXIST, "in folder " + folder_);
    PartName part = PartName::reserve(folder_, name_, attempt);
    if (part.is_empty()) continue;
    if (retry_interrupted([&] { return seam::link_descriptor(file_.descriptor(), part.path().c_str()); }) == 0) {
      part_ = std::move(part);
      break;
    }
    const int error = errno;
    part.forget();
    if (error != EEXIST) throw Error("publish", path_, error);
  }
  if (retry_interrupted([&] { return seam::rename(part_.path().c_str(), target_.c_str()); }) != 0)
    throw Error("publish", path_, errno);
  part_.forget();
}

void OutputFile::sync_folder(const File& folder, bool replaced) const {
  try {
    // A folder that may be written but not read cannot be opened; syncing the linked file then has to do.
    (folder.is_open() ? folder : file_).sync();
  } catch (const Error& error) {
    if (!replaced && seam::unlink(target_.c_str()) == 0) throw Error("sync the folder of", path_, error.error_number());
    throw Error("sync the folder of", path_, error.error_number(),
                "the output is in place and whole, but may not survive a power failure");
  }
}

}  // namespace hetsort::io
