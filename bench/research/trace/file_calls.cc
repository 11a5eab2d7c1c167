// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library's calls that read and write files, with the functions of the C library behind them. Memory that is
// mapped, io_uring and the C library's own reads behind fgets() and fscanf() are not seen.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "bench/research/trace/recorder.h"

namespace hetsort::research::trace {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls `real` and records the bytes that it has transferred, if the descriptor is that of a file.
template <typename Real>
auto transfer(CallKind kind, int descriptor, Real real) {
  Recorder& recorder = Recorder::instance();
  struct stat status {};
  if (!recorder.is_on() || InsideCall::any() || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return real();
  recorder.enter_file();
  const auto begin = Clock::now();
  const auto bytes = real();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  recorder.leave_file(kind, {status.st_dev, status.st_ino}, bytes > 0 ? static_cast<std::int64_t>(bytes) : 0, seconds);
  return bytes;
}

/// The function that this one replaces.
template <typename Function>
Function real_function(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace hetsort::research::trace

using hetsort::research::trace::CallKind;
using hetsort::research::trace::real_function;
using hetsort::research::trace::transfer;

extern "C" {

ssize_t read(int file, void* into, size_t size) {
  static const auto real = real_function<ssize_t (*)(int, void*, size_t)>("read");
  return transfer(CallKind::kRead, file, [&] { return real(file, into, size); });
}

ssize_t write(int file, const void* from, size_t size) {
  static const auto real = real_function<ssize_t (*)(int, const void*, size_t)>("write");
  return transfer(CallKind::kWrite, file, [&] { return real(file, from, size); });
}

ssize_t pread(int file, void* into, size_t size, off_t place) {
  static const auto real = real_function<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  return transfer(CallKind::kRead, file, [&] { return real(file, into, size, place); });
}

ssize_t pread64(int file, void* into, size_t size, off64_t place) { return pread(file, into, size, place); }

ssize_t pwrite(int file, const void* from, size_t size, off_t place) {
  static const auto real = real_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return transfer(CallKind::kWrite, file, [&] { return real(file, from, size, place); });
}

ssize_t pwrite64(int file, const void* from, size_t size, off64_t place) { return pwrite(file, from, size, place); }

ssize_t readv(int file, const iovec* into, int count) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int)>("readv");
  return transfer(CallKind::kRead, file, [&] { return real(file, into, count); });
}

ssize_t writev(int file, const iovec* from, int count) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int)>("writev");
  return transfer(CallKind::kWrite, file, [&] { return real(file, from, count); });
}

ssize_t preadv(int file, const iovec* into, int count, off_t place) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int, off_t)>("preadv");
  return transfer(CallKind::kRead, file, [&] { return real(file, into, count, place); });
}

ssize_t preadv64(int file, const iovec* into, int count, off64_t place) { return preadv(file, into, count, place); }

ssize_t pwritev(int file, const iovec* from, int count, off_t place) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  return transfer(CallKind::kWrite, file, [&] { return real(file, from, count, place); });
}

ssize_t pwritev64(int file, const iovec* from, int count, off64_t place) { return pwritev(file, from, count, place); }

ssize_t preadv2(int file, const iovec* into, int count, off_t place, int flags) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int, off_t, int)>("preadv2");
  return transfer(CallKind::kRead, file, [&] { return real(file, into, count, place, flags); });
}

ssize_t preadv64v2(int file, const iovec* into, int count, off64_t place, int flags) {
  return preadv2(file, into, count, place, flags);
}

ssize_t pwritev2(int file, const iovec* from, int count, off_t place, int flags) {
  static const auto real = real_function<ssize_t (*)(int, const iovec*, int, off_t, int)>("pwritev2");
  return transfer(CallKind::kWrite, file, [&] { return real(file, from, count, place, flags); });
}

ssize_t pwritev64v2(int file, const iovec* from, int count, off64_t place, int flags) {
  return pwritev2(file, from, count, place, flags);
}

size_t fread(void* into, size_t size, size_t count, FILE* file) {
  static const auto real = real_function<size_t (*)(void*, size_t, size_t, FILE*)>("fread");
  size_t done = 0;
  transfer(CallKind::kRead, ::fileno(file), [&] { return size * (done = real(into, size, count, file)); });
  return done;
}

size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  static const auto real = real_function<size_t (*)(const void*, size_t, size_t, FILE*)>("fwrite");
  size_t done = 0;
  transfer(CallKind::kWrite, ::fileno(file), [&] { return size * (done = real(from, size, count, file)); });
  return done;
}

}  // extern "C"
