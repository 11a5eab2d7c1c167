// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/publish.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <span>
#include <string>
#include <system_error>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/error.h"
#include "io/nonce.h"
#include "io/target.h"

namespace hetsort::io {

namespace {

constexpr unsigned kPartMode = 0600;

std::atomic<bool> untouched{true};

/// Whether an open file without a name can be given one here: that needs /proc/self/fd.
bool can_link_descriptors() {
  return retry_interrupted([] { return syscalls::access_at(AT_FDCWD, "/proc/self/fd", X_OK); }) == 0;
}

bool change_owner(const File& file, unsigned user, unsigned group) {
  return retry_interrupted([&] { return ::fchown(file.descriptor(), user, group); }) == 0;
}

/// Closes a copy of the descriptor: on close a network file system sends what it still buffers.
void flush_by_close(const File& file) {
  const int copy = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || (::close(copy) != 0 && errno != EINTR)) throw Error("write", file.name(), errno);
}

struct stat full_status(const File& file) {
  struct stat status {};
  if (retry_interrupted([&] { return syscalls::fstat(file.descriptor(), &status); }) != 0)
    throw Error("stat", file.name(), errno);
  return status;
}

}  // namespace

File standard_output() {
  untouched = false;
  return File(STDOUT_FILENO, "standard output", false);
}

bool output_is_untouched() noexcept { return untouched; }

OutputFile::OutputFile(const std::string& path, Staging staging, const std::string& kept) : path_(path) {
  Target target = find_target(path);
  if (target.direct.is_open()) {
    file_ = std::move(target.direct);
    untouched = false;
    return;
  }
  folder_ = std::move(target.folder);
  name_ = std::move(target.name);
  exists_ = target.exists;
  existing_mode_ = target.mode;
  existing_user_ = target.user;
  existing_group_ = target.group;
  remove_stale_parts(folder_, name_);
  if (staging == Staging::kKept)
    stage_kept(kept);
  else
    stage(staging);
  staged_ = true;
}

/// Opens the part file that is to be continued, if it is ours and nobody uses it; else creates one, and removes those
/// that nobody can continue.
void OutputFile::stage_kept(const std::string& kept) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  if (PartName::is_kept(kept)) {
    File found(retry_interrupted([&] { return syscalls::open_at(folder_.descriptor(), kept.c_str(), kFlags, 0); }),
               path_);
    if (found.is_open()) {
      const struct stat status = full_status(found);
      if (S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == ::geteuid() &&
          ::flock(found.descriptor(), LOCK_EX | LOCK_NB) == 0) {
        part_ = PartName::keep(folder_, kept);
        file_ = std::move(found);
        return;
      }
    }
  }
  remove_stale_parts(folder_, name_, Parts::kKept);
  stage(Staging::kNamed);
}

void OutputFile::stage(Staging staging) {
  if (staging == Staging::kNameless && can_link_descriptors()) {
    const int fd =
        retry_interrupted([&] { return syscalls::open_at(folder_.descriptor(), ".", O_TMPFILE | O_RDWR, kPartMode); });
    if (fd >= 0) {
      file_ = File(fd, path_);
      return;
    }
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
      throw Error("create", path_, errno, "in folder " + folder());
  }
  PartFile part = create_part(folder_, name_, path_);
  file_ = std::move(part.file);
  part_ = std::move(part.name);
}

Invitation OutputFile::invite() const {
  assert(staged_);
  Invitation invitation{.folder = folder(), .part = part_.name(), .nonce = make_nonce()};
  file_.write_at(std::as_bytes(std::span(invitation.nonce)), 0);
  // Only then does another client of a network file system see the nonce.
  flush_by_close(file_);
  const struct stat status = full_status(file_);
  invitation.user = status.st_uid;
  invitation.mode = status.st_mode & 07777;
  return invitation;
}

void OutputFile::copy_permissions() const {
  unsigned mode = existing_mode_;
  if (!exists_) {
    mode = owner_only_ ? kPartMode : 0666 & ~current_umask();
  } else if (!change_owner(file_, existing_user_, existing_group_) &&
             !change_owner(file_, static_cast<uid_t>(-1), existing_group_)) {
    // The file keeps our group, whose members get only the rights that everybody has.
    mode &= ~070U | ((mode & 07U) << 3U);
  }
  if (retry_interrupted([&] { return syscalls::change_mode(file_.descriptor(), mode & 0777); }) != 0)
    throw Error("set permissions of", path_, errno);
}

void OutputFile::prepare(bool sync) {
  if (prepared_) return;
  file_.finish_writing();
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
    untouched = false;
    // The folder is opened before anything appears, so that an error comes early.
    File folder;
    if (sync) folder = open_folder(folder_, path_);
    const bool fresh = !exists_ && part_.is_empty();
    if (fresh) link_into_place();
    if (!fresh || exists_) replace();
    if (sync) sync_folder(folder, exists_);
  }
  file_.close();
}

JoinedOutput::JoinedOutput(const Invitation& invitation, const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw Error("open", path,
                "folder " + invitation.folder + " is not the storage on which rank 0 stages the output (" +
                    invitation.part + ": " + reason +
                    "); use a folder that all ranks share, or a file for each rank with {rank}");
  };
  const int folder =
      retry_interrupted([&] { return syscalls::open(invitation.folder.c_str(), O_PATH | O_DIRECTORY, 0); });
  if (folder < 0) throw Error("open", path, errno, "in folder " + invitation.folder);
  const File opened(folder, invitation.folder);
  const int fd = retry_interrupted([&] {
    return syscalls::open_at(folder, invitation.part.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
  });
  if (fd < 0) refuse(std::generic_category().message(errno));
  file_ = File(fd, path);
  const struct stat status = full_status(file_);
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) refuse("not a regular file with one name");
  if (status.st_uid != invitation.user || (status.st_mode & 07777) != invitation.mode)
    refuse("another owner or other permissions");
  std::string nonce(invitation.nonce.size(), ' ');
  if (file_.read_at(std::as_writable_bytes(std::span(nonce)), 0) != nonce.size() || nonce != invitation.nonce)
    refuse("another file of this name");
  part_ = PartName::adopt(opened, invitation.part);
}

void JoinedOutput::prepare(bool sync) {
  if (sync) {
    file_.sync();
  } else {
    flush_by_close(file_);
  }
}

void JoinedOutput::leave() {
  part_.forget();
  file_.close();
}

void OutputFile::link_into_place() {
  const auto link = [&] {
    return syscalls::link_descriptor_at(file_.descriptor(), folder_.descriptor(), name_.c_str());
  };
  if (retry_interrupted(link) == 0) return;
  if (errno != EEXIST) throw Error("publish", path_, errno);
  exists_ = true;  // it came while we wrote: replace it
}

void OutputFile::replace() {
  const int folder = folder_.descriptor();
  if (part_.is_empty()) {
    lock_part(file_.descriptor());
    PartName part = PartName::reserve(folder_, name_);
    const auto link = [&] { return syscalls::link_descriptor_at(file_.descriptor(), folder, part.name().c_str()); };
    if (retry_interrupted(link) != 0) {
      const int error = errno;
      part.forget();
      throw Error("publish", path_, error);
    }
    part_ = std::move(part);
  }
  rename_part();
}

/// In a folder that others may write, they may put something else in the part's place.
void OutputFile::rename_part() {
  const int folder = folder_.descriptor();
  const std::string part = part_.name();
  const struct stat own = full_status(file_);
  struct stat named {};
  if (retry_interrupted([&] { return syscalls::stat_at(folder, part.c_str(), &named); }) != 0)
    throw Error("publish", path_, errno, part + " in folder " + this->folder());
  if (named.st_dev != own.st_dev || named.st_ino != own.st_ino) {
    part_.forget();
    throw Error("publish", path_, "another process has replaced " + part + " in folder " + this->folder());
  }
  if (retry_interrupted([&] { return syscalls::rename_at(folder, part.c_str(), name_.c_str()); }) != 0)
    throw Error("publish", path_, errno);
  part_.forget();
  // They may have done so in between. A regular file may be the output of another run, published since then.
  if (retry_interrupted([&] { return syscalls::stat_at(folder, name_.c_str(), &named); }) == 0 &&
      !S_ISREG(named.st_mode))
    throw Error("publish", path_, "another process has replaced " + part + " in folder " + this->folder());
}

void OutputFile::sync_folder(const File& folder, bool replaced) const {
  try {
    // A folder that may be written but not read cannot be opened; syncing the linked file then has to do.
    (folder.is_open() ? folder : file_).sync();
  } catch (const Error& error) {
    const auto unlink = [&] { return syscalls::unlink_at(folder_.descriptor(), name_.c_str()); };
    if (!replaced && retry_interrupted(unlink) == 0) throw Error("sync the folder of", path_, error.error_number());
    throw Error("sync the folder of", path_, error.error_number(),
                "the output is in place and whole, but may not survive a power failure");
  }
}

}  // namespace hetsort::io
