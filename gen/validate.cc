// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "gen/validate.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "gen/thread_team.h"
#include "io/compression/decompress.h"
#include "io/field.h"
#include "io/file.h"

namespace hetsort::gen {

namespace {

// Bytes of one read: small enough to be judged while they are still in the second-level cache.
constexpr std::size_t kReadBytes = std::size_t{256} << 10;
// Bytes of a piece, which a thread takes at once: long enough for the disk, short enough that all threads end together.
constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;
// Maximum bytes of all buffers together. No more threads are started than have buffers.
constexpr std::size_t kMaxBufferBytes = std::size_t{16} << 20;

/// The number of whole records in about `bytes`, at least one.
std::uint64_t records_in(std::uint64_t bytes, const order::RecordLayout& layout) {
  return std::max<std::uint64_t>(1, bytes / layout.record_bytes);
}

std::string operation(const ValidateOptions& options) {
  return options.content.use == io::ContentUse::kValidate ? "validate" : "check";
}

io::Error partial_record(const io::File& file, const ValidateOptions& options, std::uint64_t left_bytes,
                         std::uint64_t offset) {
  return {operation(options), file.name(),
          "partial record found at end (" + std::to_string(left_bytes) + " bytes at offset " + std::to_string(offset) +
              "); give the size of a record with " + io::field("record_size") +
              ", and the bytes before the first record with " + io::field("header")};
}

/// A buffer that is not zeroed, so that memory that is never used is never touched.
struct ReadBuffer {
  explicit ReadBuffer(std::size_t size) : bytes(size), data(std::make_unique_for_overwrite<std::byte[]>(size)) {}
  std::span<std::byte> first(std::size_t count) const { return {data.get(), count}; }

  std::size_t bytes;
  std::unique_ptr<std::byte[]> data;
};

/// The records of one file of known size, judged by several threads.
class FileScan {
 public:
  FileScan(const io::File& file, std::uint64_t first_byte, std::uint64_t size_bytes, const ValidateOptions& options)
      : file_(file),
        first_byte_(first_byte),
        size_bytes_(size_bytes),
        layout_(options.layout),
        strict_(options.strict),
        on_read_(options.on_read),
        piece_bytes_(records_in(kPieceBytes, layout_) * layout_.record_bytes) {}

  Summary run(unsigned threads) {
    const std::uint64_t record_bytes = size_bytes_ - first_byte_;
    const std::uint64_t pieces = (record_bytes + piece_bytes_ - 1) / piece_bytes_;
    if (pieces == 0) return {};
    const std::size_t buffer_bytes = std::min(record_bytes, records_in(kReadBytes, layout_) * layout_.record_bytes);
    const std::uint64_t most =
        std::min<std::uint64_t>(pieces, std::max<std::size_t>(1, kMaxBufferBytes / buffer_bytes));
    run_on_threads(static_cast<unsigned>(std::min<std::uint64_t>(threads, most)), [&] { work(buffer_bytes); });
    return std::move(whole_);
  }

 private:
  void work(std::size_t buffer_bytes) {
    const ReadBuffer buffer(buffer_bytes);
    try {
      while (!failed_) {
        const std::uint64_t piece = next_piece_++;
        const std::uint64_t from = first_byte_ + piece * piece_bytes_;
        if (from >= size_bytes_) return;
        Scanner scanner(layout_, strict_);
        const std::uint64_t to = std::min(from + piece_bytes_, size_bytes_);
        scan(from, to, buffer, scanner);
        if (on_read_) on_read_(to - from);
        join(piece, scanner.summary());
      }
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  void scan(std::uint64_t from, std::uint64_t to, const ReadBuffer& buffer, Scanner& scanner) const {
    while (from < to) {
      const std::span<std::byte> part = buffer.first(std::min<std::uint64_t>(buffer.bytes, to - from));
      const std::size_t got = file_.read_at(part, from);
      if (got < part.size())
        throw io::Error("read", file_.name(),
                        "the file was cut short while it was read: nothing at offset " + std::to_string(from + got) +
                            " of " + std::to_string(size_bytes_));
      scanner.add(part);
      from += got;
    }
  }

  /// Joins a piece to the pieces before it; a piece that is done before them waits.
  void join(std::uint64_t piece, const Summary& summary) {
    const std::lock_guard lock(mutex_);
    early_.emplace(piece, summary);
    for (auto next = early_.begin(); next != early_.end() && next->first == next_to_join_; next = early_.erase(next)) {
      whole_.append(next->second);
      ++next_to_join_;
    }
  }

  const io::File& file_;
  const std::uint64_t first_byte_;
  const std::uint64_t size_bytes_;
  const order::RecordLayout layout_;
  const bool strict_;
  const std::function<void(std::uint64_t)>& on_read_;
  const std::uint64_t piece_bytes_;
  std::atomic<std::uint64_t> next_piece_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::map<std::uint64_t, Summary> early_;
  std::uint64_t next_to_join_ = 0;
  Summary whole_;
};

/// `front`: the first bytes of the file.
Summary validate_sized(const io::File& file, std::uint64_t size_bytes, std::span<const std::byte> front,
                       const ValidateOptions& options) {
  const std::uint64_t header_bytes = io::read_header(file, false, options.header).bytes;
  if (header_bytes == 0)
    io::check_front(file.name(), front, options.content);
  else
    io::check_front(file, header_bytes, options.content);
  const std::uint64_t left_bytes = (size_bytes - header_bytes) % options.layout.record_bytes;
  if (left_bytes != 0) throw partial_record(file, options, left_bytes, size_bytes - left_bytes);
  Summary summary = FileScan(file, header_bytes, size_bytes, options).run(usable_threads(options.threads));
  const std::uint64_t size_now = file.status().size_bytes;
  if (size_now != size_bytes)
    throw io::Error("read", file.name(),
                    "the size changed from " + std::to_string(size_bytes) + " to " + std::to_string(size_now) +
                        " bytes while it was read");
  return summary;
}

Summary validate_stream(io::File file, const ValidateOptions& options) {
  if (options.content.decompress) {
    const auto memory = options.memory_bytes ? std::make_shared<io::DecoderMemory>() : nullptr;
    const std::uint64_t needed = io::decompress_stream(file, usable_threads(options.threads), memory);
    if (memory) memory->allow(needed);
    if (memory) static_cast<void>(io::memory_beside_decoders({*options.memory_bytes}, needed, file.name()));
  }
  const order::RecordLayout& layout = options.layout;
  const ReadBuffer buffer(records_in(kReadBytes, layout) * layout.record_bytes);
  Scanner scanner(layout, options.strict);
  io::require_streamable(file, options.header);
  std::uint64_t offset = io::read_header(file, true, options.header).bytes;
  io::StreamFront front(options.content);
  for (std::size_t got = buffer.bytes; got == buffer.bytes; offset += got) {
    got = front.read(file, buffer.first(buffer.bytes));
    const std::size_t left_bytes = got % layout.record_bytes;
    if (left_bytes != 0) throw partial_record(file, options, left_bytes, offset + got - left_bytes);
    scanner.add(buffer.first(got));
    if (options.on_read) options.on_read(got);
  }
  return scanner.summary();
}

Summary validate_file(const std::string& path, const ValidateOptions& options) {
  // Standard input may be a file that is already open at some offset. It is read from there on.
  if (path == "-") return validate_stream(io::standard_input(), options);
  io::File file = io::File::open_read(path);
  const io::FileStatus status = file.status();
  // A file may have another size than it reports, as in /proc. One of 0 bytes is no work in either case.
  const bool is_stream = status.kind == io::FileKind::kStream || status.size_bytes == 0 || file.hides_size();
  const std::vector<std::byte> front = is_stream ? std::vector<std::byte>{} : io::read_front(file, options.content);
  if (is_stream || (options.content.decompress && io::compression_of(front) != io::Compression::kNone))
    return validate_stream(std::move(file), options);
  return validate_sized(file, status.size_bytes, front, options);
}

/// Opening a FIFO waits for its writer: report other files that are missing before.
void check_readable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (path != "-") io::File::check_readable(path);
}

}  // namespace

Summary validate_files(const std::vector<std::string>& paths, const ValidateOptions& options) {
  check_readable(paths);
  Summary whole;
  for (const std::string& path : paths) whole.append(validate_file(path, options));
  return whole;
}

Summary join_summary_files(const std::vector<std::string>& paths) {
  check_readable(paths);
  Summary whole;
  for (const std::string& path : paths) {
    const io::File file = path == "-" ? io::standard_input() : io::File::open_read(path);
    std::array<std::byte, kSummaryBytes> bytes;
    std::uint64_t offset = 0;
    while (const std::size_t got = file.read(bytes)) {
      if (got < bytes.size())
        throw io::Error("validate", path,
                        "partial partition summary found at end (" + std::to_string(got) + " bytes at offset " +
                            std::to_string(offset) + ")");
      const std::optional<Summary> summary = decode_summary(bytes);
      if (!summary) throw io::Error("validate", path, "no partition summary at offset " + std::to_string(offset));
      whole.append(*summary);
      offset += got;
    }
  }
  return whole;
}

}  // namespace hetsort::gen
