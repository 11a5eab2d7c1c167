// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/input/input.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "io/calls/buffer.h"
#include "io/checked.h"
#include "io/compression/decompress.h"
#include "io/field.h"
#include "io/file_system.h"
#include "io/mapping.h"
#include "order/lines/line_order.h"
#include "sort/failure/request_error.h"
#include "sort/input/csv/columns.h"
#include "sort/machine/pages.h"

namespace hetsort::sort {

namespace {

/// Refuses a file that ends inside a record. `header`: bytes before the `size` bytes of records.
[[noreturn]] void refuse_left_over(const std::string& name, std::uint64_t header, std::uint64_t size,
                                   std::size_t record_bytes) {
  const std::uint64_t left_over = size % record_bytes;
  throw io::Error(
      "read", name,
      fmt::format("{} bytes are no whole number of {}-byte records: {} left over at offset {}; give the size of a "
                  "record with {}, and the bytes before the first record with {}; {} sorts lines",
                  size, record_bytes, left_over, header + size - left_over, io::field("record_size"),
                  io::field("header"), io::field("lines")));
}

/// Bytes that a search for the begin of a line reads first, and bytes that it reads then: most lines are short.
constexpr std::size_t kProbeBytes = std::size_t{8} << 10;
constexpr std::size_t kFurtherProbeBytes = std::size_t{256} << 10;

/// Inputs with fewer bytes of records are read buffered: for them direct I/O gains little and needs pages of slack, for
/// which run_room_bytes() has room with larger ones only.
constexpr std::uint64_t kSmallInputBytes = std::uint64_t{1} << 20;
/// A process may have about 65,000 mappings, and each input needs two.
constexpr std::size_t kMaxMappedInputs = 1000;

/// Descriptors that a process needs besides those of its inputs: output, spills, side files, io_uring.
constexpr std::uint64_t kOtherDescriptors = 32;

/// Throws: io::Error if the file has another size than at the start.
void refuse_if_changed(const InputFile& input) {
  const std::uint64_t now = input.file.status().size_bytes;
  if (now != input.size_bytes)
    throw io::Error("read", input.file.name(),
                    fmt::format("changed from {} to {} bytes while it was read", input.size_bytes, now));
}

bool is_same_file(const InputFile& input, const io::FileStatus& file) {
  if (!input.file.is_open()) return false;
  const io::FileStatus status = input.file.status();
  return status.kind == io::FileKind::kRegular && status.device == file.device && status.inode == file.inode;
}

/// Files with holes are excluded: reading a hole through a mapping fills it, which takes memory.
bool is_in_memory(const io::File& file) {
  const io::FileStatus status = file.status();
  return io::can_map_files() && status.kind == io::FileKind::kRegular && status.allocated_bytes >= status.size_bytes &&
         io::storage_of(file.descriptor()) == io::Storage::kMemory;
}

}  // namespace

void refuse_truncated(const InputFile& input, std::uint64_t offset) {
  const std::uint64_t end = std::min({offset, input.size_bytes, input.file.status().size_bytes});
  throw io::Error(
      "read", input.file.name(),
      fmt::format("ends at offset {}, {} bytes short: truncated while it was read", end, input.size_bytes - end));
}

void refuse_if_truncated(const InputFile& input) {
  const std::uint64_t now = input.file.status().size_bytes;
  if (now < input.size_bytes) refuse_truncated(input, now);
}

InputFormat input_format(const RecordLayout& layout, const InputOptions& options) {
  return {.record_bytes = layout.record_bytes,
          .header = options.header,
          .terminator = layout.terminator(),
          .content = options.content};
}

std::uint64_t whole_records(std::uint64_t bytes, std::size_t record_bytes) {
  if (bytes % record_bytes != 0)
    throw RequestError(fmt::format("{} bytes are no whole number of {}-byte records", bytes, record_bytes));
  return bytes / record_bytes;
}

Input::Input(const std::vector<std::string>& paths, const InputFormat& format, io::Access access)
    : record_bytes_(format.record_bytes),
      header_rule_(format.header),
      terminator_(format.terminator),
      content_(format.content),
      decoders_(format.decoders) {
  opens_in_turn_ = paths.size() > most_open();
  for (const std::string& path : paths) {
    add(path);
    // Files that are read one after the other are opened again when their turn comes. A pipe would lose its data.
    io::File& file = files_.back().file;
    if (opens_in_turn_ && path != "-" && file.status().kind == io::FileKind::kRegular) file.close();
  }
  if (paths.empty()) add("-");
  stream_ |= opens_in_turn_;
  for (InputFile& input : files_) {
    if (stream_ || input.bytes_of_records() < kSmallInputBytes) continue;
    const io::Backend backend = io::choose_backend(input.file, access);
    input.in_memory = access == io::Access::kAuto && is_in_memory(input.file);
    if (backend == io::Backend::kBuffered) continue;
    input.direct = input.file.set_direct(true);
    backend_ = backend;
  }
  if (terminator_ && !stream_ && total_bytes_ > 0) mean_record_bytes_ = sampled_line_bytes();
}

Input::Input(io::File file, std::size_t record_bytes, std::optional<std::byte> terminator)
    : record_bytes_(record_bytes),
      terminator_(terminator),
      content_{.refused = io::Refused::kNothing, .decompress = false} {
  add(std::move(file), false);
}

Input::Input(std::span<const std::byte> records, std::size_t record_bytes)
    : record_bytes_(record_bytes), memory_(records), total_bytes_(records.size()) {
  static_cast<void>(whole_records(records.size(), record_bytes));
}

void Input::add(const std::string& path) {
  // Standard input may be a file that was partly read before: it is read from its position on, as a stream.
  add(path == "-" ? io::standard_input() : io::File::open_read(path), path == "-");
}

void Input::add(io::File file, bool stream) {
  InputFile input{std::move(file)};
  const io::FileStatus status = input.file.status();
  if (status.kind == io::FileKind::kDirectory) throw io::Error("read", input.file.name(), EISDIR);
  stream |= status.kind == io::FileKind::kStream || input.file.hides_size();
  const std::vector<std::byte> front = stream ? std::vector<std::byte>{} : io::read_front(input.file, content_);
  const io::Compression format = content_.decompress ? io::compression_of(front) : io::Compression::kNone;
  input.compressed = format != io::Compression::kNone;
  input.decoder_bytes = io::decoder_bytes(format, front);
  stream |= input.compressed;
  if (stream) io::require_streamable(input.file, header_rule_);
  if (!stream) {
    input.size_bytes = status.size_bytes;
    check_sized(input, front);
    total_bytes_ = io::checked_add(total_bytes_, input.bytes_of_records(), "the INPUTs");
  }
  input.stream = stream;
  stream_ |= stream;
  files_.push_back(std::move(input));
}

/// Also sets what follows from the size.
void Input::check_sized(InputFile& input, std::span<const std::byte> front) {
  const io::Header header = read_header(input.file, false);
  input.header_bytes = header.bytes;
  // The format of a file shows at its very start, which may be in lines that stay on top.
  if (header_rule_.bytes == 0)
    io::check_front(input.file.name(), front, content_);
  else
    io::check_front(input.file, header_rule_.bytes, content_);
  check_whole_records(input.file, input.bytes_of_records());
  std::byte last{};
  if (terminator_ && input.bytes_of_records() > 0 && input.file.read_at({&last, 1}, input.size_bytes - 1) == 1)
    input.added_bytes = last == *terminator_ ? 0 : 1;
  keep_header(input.file, header, files_.empty());
}

io::Header Input::read_header(const io::File& file, bool stream) const {
  return io::read_header(file, stream, header_rule_, terminator_.value_or(std::byte{'\n'}));
}

/// The output has one header, that of the first INPUT.
void Input::keep_header(const io::File& file, const io::Header& header, bool first) {
  if (header.file_is_empty) return;
  if (header_rule_.is_common() && !header_name_.empty() && !io::have_same_lines(header.text, header_))
    throw io::Error("read", file.name(), fmt::format("its header differs from that of {}", header_name_));
  if (!first && !header_name_.empty()) return;
  header_name_ = file.name();
  header_ = header.text;
}

std::uint64_t Input::begin_stream(const InputFile& input, std::optional<io::StreamFront>& front) {
  const bool first = &input == files_.data();
  if (first && front_) {  // bind_columns() has begun
    front = std::exchange(front_, std::nullopt);
    return streamed_header_;
  }
  InputFile& opened = files_[static_cast<std::size_t>(&input - files_.data())];
  begin_decoding(opened);
  const io::File& file = opened.file;
  const io::Header header = read_header(file, true);
  if (header_rule_.is_common())
    front.emplace(content_, file.name(), header.text, header.behind);
  else
    front.emplace(content_);
  keep_header(file, header, first);
  return header.bytes;
}

RecordLayout Input::bind_columns(const RecordLayout& layout, const io::HeaderRule& rule) {
  if (!is_csv(layout)) return layout;
  const bool is_begun = files_.empty() || !files_.front().stream || front_;
  if (header_rule_.csv && !is_begun) {
    open_files(0, 1);
    streamed_header_ = begin_stream(files_.front(), front_);
  }
  RecordLayout bound =
      with_columns(layout, rule, header_, files_.empty() ? "rank 0's input" : files_.front().file.name());
  if (header_rule_.csv) csv_ = csv_format(bound);
  return bound;
}

void Input::map_quotes(std::size_t threads, comm::Communicator* ranks) {
  if (!csv_) return;
  for (InputFile& input : files_)
    if (!input.stream && input.file.is_open())
      input.quotes = sort::map_quotes({input.file, input.header_bytes, input.size_bytes, *csv_, threads}, ranks);
}

std::optional<CsvStream> Input::rows_of(const io::File& file) const {
  if (!csv_) return std::nullopt;
  const auto lines = std::ranges::count(header_, *terminator_);
  return CsvStream(file.name(), *csv_, static_cast<std::uint64_t>(lines));
}

void Input::check_whole_records(const io::File& file, std::uint64_t size) const {
  if (size % record_bytes_ != 0) refuse_left_over(file.name(), header_rule_.bytes, size, record_bytes_);
}

bool Input::header_is_whole_pages() const {
  return std::ranges::all_of(files_, [](const InputFile& input) { return input.header_bytes % kPageBytes == 0; });
}

std::size_t Input::most_open() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  return std::max<rlim_t>(limit.rlim_cur, kOtherDescriptors + 2) - kOtherDescriptors;
}

void Input::open_files(std::size_t first, std::size_t count) {
  for (InputFile& input : std::span(files_).subspan(first, count))
    if (!input.file.is_open()) input.file = io::File::open_read(input.file.name());
}

void Input::close_files(std::size_t first, std::size_t count) {
  for (InputFile& input : std::span(files_).subspan(first, count)) {
    if (!input.stream) refuse_if_changed(input);
    input.file.close();
    input.quotes.reset();
  }
}

bool Input::is_compressed() const {
  const auto is_open = [](const InputFile& input) {
    return !input.stream || (input.compressed && input.file.is_open());
  };
  return stream_ && !files_.empty() && std::ranges::all_of(files_, is_open);
}

const std::string& Input::stream_name() const {
  assert(is_stream());
  const auto is_stream = [](const InputFile& input) { return input.stream || !input.file.is_open(); };
  return std::find_if(files_.begin(), files_.end(), is_stream)->file.name();
}

double Input::cached_fraction() const {
  constexpr std::size_t kMaxSampledFiles = 64;
  if (stream_) return 0;
  double cached = 0;
  double sampled = 0;
  for (std::size_t i = 0; i < files_.size(); i += files_.size() / kMaxSampledFiles + 1) {
    const auto bytes = static_cast<double>(files_[i].bytes_of_records());
    sampled += bytes;
    if (!files_[i].direct) cached += bytes * io::cached_fraction(files_[i].file);
  }
  return sampled > 0 ? cached / sampled : 0;
}

bool Input::can_be_mapped() const {
  return !stream_ && files_.size() <= kMaxMappedInputs && std::ranges::all_of(files_, [](const InputFile& input) {
    return input.in_memory || input.bytes_of_records() == 0;
  });
}

bool Input::includes(const io::FileStatus& file) const {
  return std::ranges::any_of(files_, [&](const InputFile& input) { return is_same_file(input, file); });
}

void Input::keep_apart_from(const io::FileStatus& output) {
  for (InputFile& input : files_) {
    input.overwritten = is_same_file(input, output);
    input.in_memory = input.in_memory && !input.overwritten;
  }
}

std::vector<Segment> Input::place(std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t& memory_bytes) const {
  assert(!is_stream() && first_byte % record_bytes_ == 0);
  std::vector<Segment> segments;
  first_byte += first_byte_;
  std::uint64_t cursor = 0;
  std::uint64_t input_first = 0;
  for (const InputFile& input : files_) {
    const std::uint64_t from = std::max(first_byte, input_first);
    const std::uint64_t to = std::min(first_byte + bytes, input_first + input.bytes_of_records());
    if (from < to) {
      Segment segment{&input, input.header_bytes + from - input_first, to - from, cursor};
      // Direct reads and mappings fill whole pages, which nothing else may use.
      const bool whole_pages = input.direct || input.in_memory;
      if (whole_pages) segment.memory_offset = round_up(cursor, kPageBytes) + segment.file_offset % kPageBytes;
      cursor = segment.memory_offset + segment.bytes;
      if (whole_pages) cursor = round_up(cursor, kPageBytes);
      if (to == input_first + input.bytes_of_records()) segment.added_bytes = input.added_bytes;
      segments.push_back(segment);
    }
    input_first += input.bytes_of_records();
  }
  memory_bytes = round_up(cursor, kPageBytes);
  return segments;
}

// A read of a stream waits until it has so many bytes, which are counted then.
constexpr std::size_t kStreamPieceBytes = std::size_t{1} << 20;

std::size_t Input::read_stream(std::span<std::byte> into) {
  if (source_) return source_(into);
  std::size_t filled = 0;
  while (filled < into.size() && streaming_ < files_.size()) {
    io::File& file = files_[streaming_].file;
    if (!file.is_open()) file = io::File::open_read(file.name());
    if (!front_) streamed_header_ = begin_stream(files_[streaming_], front_);
    if (streamed_bytes_ == 0) rows_ = rows_of(file);
    const std::size_t asked = std::min(kStreamPieceBytes, into.size() - filled);
    const std::size_t got = front_->read(file, into.subspan(filled, asked));
    if (rows_) rows_->take(into.subspan(filled, got));
    filled += got;
    streamed_bytes_ += got;
    if (count_) count_(got);
    if (got > 0) last_byte_ = into[filled - 1];
    if (got < asked) filled += end_of_stream_input(into.subspan(filled));
  }
  return filled;
}

/// Goes on to the next input where one ends. Returns how many bytes it has added to `into`, which is not empty.
std::size_t Input::end_of_stream_input(std::span<std::byte> into) {
  check_whole_records(files_[streaming_].file, streamed_bytes_);
  if (rows_) rows_->finish();
  const bool adds = terminator_ && streamed_bytes_ > 0 && last_byte_ != *terminator_;
  if (adds) into.front() = *terminator_;
  stream_ends_.push_back((stream_ends_.empty() ? 0 : stream_ends_.back()) + streamed_bytes_ + (adds ? 1 : 0));
  streamed_bytes_ = 0;
  front_.reset();
  files_[streaming_++].file.close();
  return adds ? 1 : 0;
}

/// Reads from `offset` on, perhaps fewer bytes than asked, but some unless the file ends there. Reads whole pages,
/// which direct I/O wants.
std::size_t Input::read_near(const InputFile& input, std::uint64_t offset, std::span<std::byte> into) const {
  io::Buffer pages(round_up(into.size(), kPageBytes) + kPageBytes);
  const std::uint64_t first_page = offset / kPageBytes * kPageBytes;
  const std::size_t got = input.file.read_at(pages.span(), first_page);
  const std::size_t skipped = offset - first_page;
  if (got <= skipped) return 0;
  const std::size_t bytes = std::min(got - skipped, into.size());
  std::copy_n(pages.data() + skipped, bytes, into.begin());
  input.hide_newlines(offset, into.first(bytes));
  return bytes;
}

std::size_t Input::peek(std::uint64_t at, std::span<std::byte> into) const {
  assert(at < total_bytes_ && !into.empty());
  std::uint64_t unused = 0;
  const std::vector<Segment> segments = place(at, std::min<std::uint64_t>(into.size(), total_bytes_ - at), unused);
  const Segment& segment = segments.front();
  const std::size_t got =
      read_near(*segment.input, segment.file_offset, into.first(segment.bytes - segment.added_bytes));
  if (got == 0 && segment.bytes > segment.added_bytes) refuse_truncated(*segment.input, segment.file_offset);
  if (segment.added_bytes == 0 || got + 1 < segment.bytes) return got;
  into[got] = *terminator_;
  return got + 1;
}

std::uint64_t Input::record_start(std::uint64_t at, std::uint64_t limit) const {
  assert(!is_stream() && (terminator_ || at % record_bytes_ == 0));
  if (!terminator_) return at;
  std::vector<std::byte> probe(kProbeBytes);
  std::uint64_t input_first = 0;
  at += first_byte_;
  for (const InputFile& input : files_) {
    const std::uint64_t input_end = input_first + input.bytes_of_records();
    if (at <= input_first) return input_first - first_byte_;
    if (at < input_end) {
      // A line begins behind each terminator. The search begins with the byte before `at`, which may be one.
      for (std::uint64_t from = input.header_bytes + at - 1 - input_first; from < input.size_bytes;) {
        const std::size_t got = read_near(input, from, probe);
        if (got == 0) refuse_truncated(input, from);
        if (const std::uint64_t place = from - input.header_bytes + input_first; place > first_byte_ + limit)
          return place - first_byte_;
        const std::byte* const end = probe.data() + got;
        const std::byte* const found = std::find<const std::byte*>(probe.data(), end, *terminator_);
        from += static_cast<std::uint64_t>(found - probe.data());
        if (found != end) return from + 1 - input.header_bytes + input_first - first_byte_;
        probe.resize(kFurtherProbeBytes);
      }
      return input_end - first_byte_;
    }
    input_first = input_end;
  }
  return input_first - first_byte_;
}

std::uint64_t Input::last_line_start(std::uint64_t first, std::uint64_t at) const {
  assert(terminator_ && first < at && at <= total_bytes_);
  std::vector<std::byte> probe(kProbeBytes);
  while (at > first) {
    const std::uint64_t from = at - std::min<std::uint64_t>(at - first, probe.size());
    std::size_t filled = 0;
    while (from + filled < at) {
      filled += peek(from + filled, std::span(probe).subspan(filled, at - from - filled));
    }
    while (filled > 0 && probe[filled - 1] != *terminator_) --filled;
    if (filled > 0) return from + filled;
    probe.resize(kFurtherProbeBytes);
    at = from;
  }
  return first;
}

std::uint64_t Input::sampled_line_bytes() const {
  constexpr std::uint64_t kPlaces = 16;
  constexpr std::size_t kPlaceBytes = std::size_t{64} << 10;
  std::vector<std::byte> probe(kPlaceBytes);
  std::uint64_t bytes = 0;
  std::uint64_t lines = 1;
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    std::uint64_t unused = 0;
    const std::uint64_t at = total_bytes_ / kPlaces * place;
    for (const Segment& segment : this->place(at, std::min<std::uint64_t>(kPlaceBytes, total_bytes_ - at), unused)) {
      const std::size_t got =
          read_near(*segment.input, segment.file_offset, std::span(probe).first(segment.bytes - segment.added_bytes));
      bytes += got;
      lines += static_cast<std::uint64_t>(
          std::count(probe.begin(), probe.begin() + static_cast<std::ptrdiff_t>(got), *terminator_));
    }
  }
  return std::max<std::uint64_t>(1, bytes / lines * 9 / 10);
}

void Input::refuse_long_line(std::uint64_t at, std::uint64_t most) const {
  std::uint64_t input_first = 0;
  std::size_t number = 0;
  at += first_byte_;
  for (; number + 1 < files_.size(); ++number) {
    const std::uint64_t end = stream_ ? (number < stream_ends_.size() ? stream_ends_[number] : UINT64_MAX)
                                      : input_first + files_[number].bytes_of_records();
    if (at < end) break;
    input_first = end;
  }
  if (!stream_) refuse_if_truncated(files_[number]);
  const std::uint64_t header_bytes = stream_ || files_.empty() ? streamed_header_ : files_[number].header_bytes;
  throw io::Error("read", files_.empty() ? "rank 0's input" : files_[number].file.name(),
                  long_line_text(header_bytes + at - input_first, most));
}

void Input::check_unchanged() const {
  if (stream_) return;
  std::ranges::for_each(files_, refuse_if_changed);
}

std::string long_line_text(std::uint64_t offset, std::uint64_t most) {
  return fmt::format("the line at offset {} is longer than {} bytes: give more memory with {}", offset, most,
                     io::field("memory"));
}

}  // namespace hetsort::sort
