// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>

#include "io/calls/retry.h"
#include "io/calls/system_calls.h"
#include "io/checksum/checksum.h"
#include "io/field.h"
#include "io/file.h"
#include "io/part_name.h"
#include "sort/failure/request_error.h"

namespace hetsort::sort {

namespace {

constexpr std::string_view kFormat = "hetsort-checkpoint 1";
constexpr std::string_view kDoubt = "doubt";
// More ranks than any job has: of more, a damaged number would let a rank look for files for hours.
constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 20;

std::string journal_path(const std::string& folder, int rank) {
  return fmt::format("{}/hetsort.{}.journal", folder, rank);
}

std::string runs_path(const std::vector<std::string>& folders, int rank, std::size_t folder) {
  return fmt::format("{}/hetsort.{}.runs.{}", folders[folder], rank, folder);
}

/// A number that the same lines have on every machine.
std::uint64_t identity_of(std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text.empty() ? 0 : io::fingerprint(std::as_bytes(std::span(text)), text.size());
}

/// The numbers of ranks of the jobs that these lines are of.
std::vector<std::uint64_t> ranks_of(std::span<const std::string> lines) {
  std::vector<std::uint64_t> ranks;
  for (const std::string& line : lines)
    if (LineWords words(line); words.word() == "ranks") ranks.push_back(words.number());
  return ranks;
}

bool overlap(const SpilledRun& a, const SpilledRun& b) {
  return a.first_record < b.first_record + b.records && b.first_record < a.first_record + a.records;
}

/// Drops runs whose records or blocks a later run has taken.
std::vector<SpilledRun> without_replaced(std::vector<SpilledRun> runs) {
  std::unordered_set<std::uint64_t> taken;
  std::vector<SpilledRun> left;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    bool replaced = std::ranges::any_of(left, [&](const SpilledRun& later) { return overlap(*run, later); });
    for (const SpilledBlock& block : run->blocks) replaced |= taken.contains(block.number);
    if (replaced) continue;
    for (const SpilledBlock& block : run->blocks) taken.insert(block.number);
    left.push_back(std::move(*run));
  }
  std::ranges::reverse(left);
  return left;
}

std::string line_of(const MergedPiece& piece, const std::string& name) {
  const OrderVerifier::State state = piece.verifier.state();
  const auto word = [](const std::vector<std::byte>& key) {
    return as_word({reinterpret_cast<const char*>(key.data()), key.size()});
  };
  return fmt::format("merged {} {} {} {} {:016x} {} {} {}", as_word(name), piece.first_byte, piece.verifier.bytes(),
                     state.digest.records, state.digest.fingerprint, state.in_order ? 1 : 0, word(state.first_key),
                     word(state.last_key));
}

/// Nothing for a line that is no piece of records with this layout in the file `name`.
std::optional<MergedPiece> read_piece(std::string_view line, const std::string& name, const RecordLayout& layout) {
  LineWords words(line);
  if (words.word() != "merged" || words.text() != name) return std::nullopt;
  const std::uint64_t first_byte = words.number();
  const std::uint64_t bytes = words.number();
  OrderVerifier::State state;
  state.digest.records = words.number();
  state.digest.fingerprint = words.number(16);
  state.in_order = words.number() == 1;
  for (std::vector<std::byte>* const key : {&state.first_key, &state.last_key}) {
    const std::string text = words.text();
    const auto from = std::as_bytes(std::span(text));
    key->assign(from.begin(), from.end());
  }
  if (words.bad() || !words.at_end() || bytes == 0) return std::nullopt;
  return MergedPiece{first_byte, OrderVerifier(layout, std::move(state), bytes)};
}

std::optional<KeptOutput> read_kept(std::string_view line) {
  LineWords words(line);
  if (words.word() != "output") return std::nullopt;
  KeptOutput kept;
  kept.folder = words.text();
  kept.name = words.text();
  return words.bad() || !io::PartName::is_kept(kept.name) ? std::nullopt : std::optional(kept);
}

/// Brings the names in a folder to the disk.
void sync_folder(const std::string& path) {
  io::File::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, "open the checkpoint").sync();
}

void remove_file(const std::string& path) noexcept {
  io::retry_interrupted([&] { return io::syscalls::unlink_at(AT_FDCWD, path.c_str()); });
}

/// Without the journal the rest is worth nothing, so it goes first.
void remove_part(const std::vector<std::string>& folders, int rank) noexcept {
  remove_file(journal_path(folders.front(), rank));
  for (std::size_t folder = 0; folder < folders.size(); ++folder) remove_file(runs_path(folders, rank, folder));
}

std::uint64_t bytes_of_part(const std::vector<std::string>& folders, int rank) {
  std::uint64_t bytes = 0;
  for (std::size_t folder = 0; folder < folders.size(); ++folder) {
    struct stat status {};
    if (io::syscalls::stat(runs_path(folders, rank, folder).c_str(), &status) == 0)
      bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  return bytes;
}

}  // namespace

std::string line_of(const SpilledRun& run) {
  std::string line = fmt::format("run {} {} {} {:016x} {} {}", run.first_record, run.records, run.digest.records,
                                 run.digest.fingerprint, run.longest_line, run.blocks.size());
  for (std::size_t number = 0; number < run.blocks.size(); ++number) {
    const Element& prefix = *run.prefixes.at(number * run.prefixes.block_records);
    fmt::format_to(std::back_inserter(line), " {} {:08x} {:016x} {:x}", run.blocks[number].number,
                   run.blocks[number].crc32c, static_cast<std::uint64_t>(prefix >> 64),
                   static_cast<std::uint64_t>(prefix));
  }
  return line;
}

bool read_run(std::string_view line, SpilledRun& run) {
  LineWords words(line);
  if (words.word() != "run") return false;
  run.first_record = words.number();
  run.records = words.number();
  run.digest.records = words.number();
  run.digest.fingerprint = words.number(16);
  run.longest_line = words.number();
  const std::uint64_t blocks = words.number();
  for (std::uint64_t i = 0; i < blocks && !words.bad(); ++i) {
    SpilledBlock block;
    block.number = words.number();
    block.crc32c = static_cast<std::uint32_t>(words.number(16));
    const Element high = words.number(16);
    run.prefixes.elements.push_back(high << 64 | words.number(16));
    run.blocks.push_back(block);
  }
  return !words.bad() && words.at_end() && run.records > 0;
}

std::optional<JournalHeader> read_header(std::string_view line) {
  if (!line.starts_with(std::string(kFormat) + " ")) return std::nullopt;
  LineWords words(line.substr(kFormat.size() + 1));
  JournalHeader header;
  header.facts = words.number();
  header.folders = words.number();
  header.block_bytes = words.number();
  header.record_bytes = words.number();
  if (words.bad() || header.block_bytes == 0) return std::nullopt;
  return header;
}

std::vector<SpilledRun> runs_of(std::span<const std::string> lines) {
  std::vector<SpilledRun> runs;
  for (const std::string& line : lines)
    if (SpilledRun run; read_run(line, run)) runs.push_back(std::move(run));
  runs = without_replaced(std::move(runs));
  std::ranges::sort(runs, {}, &SpilledRun::first_record);
  return runs;
}

std::vector<SortFact> facts_of(std::span<const std::string> lines) {
  std::vector<SortFact> facts;
  for (const std::string& line : lines) {
    LineWords words(line);
    if (words.word() != "fact") continue;
    std::string name = words.text();
    facts.push_back({std::move(name), words.text()});
  }
  return facts;
}

std::optional<KeptOutput> kept_output(const std::string& folder, int rank) {
  const std::string path = journal_path(folder, rank);
  std::optional<KeptOutput> kept;
  if (io::kind_at(path) != io::FileKind::kRegular) return kept;
  const io::File locked = open_unused_journal(path);
  if (!locked.is_open()) return kept;
  for (const std::string& line : read_journal(locked))
    if (std::optional<KeptOutput> found = read_kept(line)) kept = std::move(found);
  return kept;
}

Checkpoint::Checkpoint(CheckpointPlace place, std::vector<SortFact> facts, std::vector<SortFact> about)
    : place_(std::move(place)),
      facts_(std::move(facts)),
      about_(std::move(about)),
      journal_(journal_path(place_.folders.front(), place_.rank)) {
  for (const std::string& line : journal_.lines())
    if (std::optional<KeptOutput> found = read_kept(line)) {
      kept_ = std::move(found);
    } else if (line.starts_with("merged ")) {
      merged_.push_back(line);
    } else if (line == kDoubt) {
      doubted_ = true;
      merged_.clear();
    }
  read_ranks();
  if (place_.restart)
    journal_.clear();
  else
    read_journal();
}

void Checkpoint::read_ranks() {
  for (const std::uint64_t ranks : ranks_of(journal_.lines())) {
    most_ranks_ = std::max(most_ranks_, static_cast<int>(std::min<std::uint64_t>(ranks, kMostRanks)));
    other_ranks_ |= ranks != static_cast<std::uint64_t>(place_.ranks);
  }
}

Checkpoint::~Checkpoint() {
  if (block_bytes_ == 0 && journal_.exists()) remove_file(journal_.path());
}

void Checkpoint::read_journal() {
  const std::vector<std::string>& lines = journal_.lines();
  if (lines.empty() && journal_.damaged_lines() == 0) return;
  const auto refuse = [&](const std::string& reason) {
    throw RequestError(fmt::format("checkpoint {}: {}; {} begins anew", folder(), reason, io::field("restart")));
  };
  if (lines.empty() || !lines.front().starts_with("hetsort-checkpoint ")) refuse("its journal is damaged");
  const std::optional<JournalHeader> header = read_header(lines.front());
  if (!header) refuse("another version of hetsort wrote its journal");
  const std::vector<SortFact> facts = facts_of(lines);
  if (facts.size() != header->facts) refuse("its journal is damaged");
  check_facts(facts);
  if (header->folders != place_.folders.size())
    refuse(fmt::format("it has {} folders, and {} are named", header->folders, place_.folders.size()));
  block_bytes_ = header->block_bytes;
  runs_ = runs_of(lines);
}

/// Throws: RequestError that says what has changed.
void Checkpoint::check_facts(const std::vector<SortFact>& found) const {
  const std::size_t common = std::min(found.size(), facts_.size());
  std::size_t at = 0;
  while (at < common && found[at] == facts_[at]) ++at;
  if (at == found.size() && at == facts_.size()) return;
  std::string change;
  if (at < common && found[at].name == facts_[at].name)
    change = fmt::format("{} changed: it was '{}' and is '{}'", facts_[at].name, found[at].text, facts_[at].text);
  else
    change = fmt::format("it was begun with {} and now there is {}", at < found.size() ? found[at].name : "less",
                         at < facts_.size() ? facts_[at].name : "less");
  throw RequestError(fmt::format("checkpoint {}: {}; {} begins anew", folder(), change, io::field("restart")));
}

void Checkpoint::add_part_of(int rank, const std::vector<std::string>& folders) {
  const std::string path = journal_path(folders.front(), rank);
  if (path == journal_.path() || io::kind_at(path) != io::FileKind::kRegular) return;
  OtherPart part{.folders = folders, .rank = rank};
  const bool is_mine_to_remove = rank >= place_.ranks;
  io::File file = is_mine_to_remove ? open_unused_journal(path) : io::File::open_read(path);
  if (!file.is_open()) return;
  if (place_.restart) {
    if (is_mine_to_remove) remove_part(folders, rank);
    return;
  }
  const std::vector<std::string> lines = sort::read_journal(file);
  if (is_mine_to_remove) part.lock = std::move(file);
  if (lines.empty()) {  // its rank died when it had created the file
    others_.push_back(std::move(part));
    return;
  }
  const std::optional<JournalHeader> header = read_header(lines.front());
  if (!header || header->folders != folders.size() || facts_of(lines) != facts_) return;
  part.journal = identity_of(lines);
  part.block_bytes = header->block_bytes;
  part.runs = runs_of(lines);
  others_.push_back(std::move(part));
}

std::uint64_t Checkpoint::block_bytes() const {
  std::uint64_t bytes = runs_.empty() ? 0 : block_bytes_;
  for (const OtherPart& part : others_) bytes = std::max(bytes, part.runs.empty() ? 0 : part.block_bytes);
  return bytes;
}

std::uint64_t Checkpoint::bytes_on_disk() const {
  if (block_bytes() == 0) return 0;
  std::uint64_t bytes = bytes_of_part(place_.folders, place_.rank);
  for (const OtherPart& part : others_)
    if (part.lock.is_open()) bytes += bytes_of_part(part.folders, part.rank);
  return bytes;
}

std::string Checkpoint::header(std::uint64_t block_bytes) const {
  std::string text =
      fmt::format("{} {} {} {} {}", kFormat, facts_.size(), place_.folders.size(), block_bytes, place_.record_bytes);
  for (const SortFact& about : about_) text += fmt::format("\nabout {} {}", as_word(about.name), as_word(about.text));
  for (const SortFact& fact : facts_) text += fmt::format("\nfact {} {}", as_word(fact.name), as_word(fact.text));
  // Ranks of earlier jobs may have left files, which the last job removes.
  if (most_ranks_ > place_.ranks) text += fmt::format("\nranks {}", most_ranks_);
  return text + fmt::format("\nranks {}", place_.ranks);
}

void Checkpoint::begin(std::uint64_t block_bytes) {
  journal_.create();
  if (block_bytes_ == block_bytes) {
    const std::vector<std::uint64_t> ranks = ranks_of(journal_.lines());
    if (std::ranges::count(ranks, static_cast<std::uint64_t>(place_.ranks)) == 0)
      journal_.append(fmt::format("ranks {}", place_.ranks));
    return;
  }
  begun_anew_ = true;
  runs_.clear();
  merged_.clear();
  journal_.clear();
  block_bytes_ = block_bytes;
  journal_.append(header(block_bytes));
}

std::unique_ptr<io::SpillSpace> Checkpoint::open_space(bool direct) {
  std::vector<io::File> files;
  for (std::size_t folder = 0; folder < place_.folders.size(); ++folder)
    files.push_back(io::File::open(runs_path(place_.folders, place_.rank, folder),
                                   O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (begun_anew_ ? O_TRUNC : 0), 0600,
                                   "create"));
  for (const std::string& folder : place_.folders) sync_folder(folder);
  auto space = std::make_unique<io::SpillSpace>(std::move(files), block_bytes_, direct);
  open_others(space->direct());
  return space;
}

/// Opens the files of the others. The runs of those that cannot be opened are dropped.
void Checkpoint::open_others(bool direct) {
  for (OtherPart& part : others_) {
    try {
      for (std::size_t folder = 0; folder < part.folders.size(); ++folder) {
        part.files.push_back(io::File::open_read(runs_path(part.folders, part.rank, folder)));
        part.files.back().set_direct(direct);
      }
    } catch (const io::Error&) {
      part.runs.clear();
    }
    if (part.block_bytes != block_bytes_) part.runs.clear();
  }
}

std::vector<KeptRun> Checkpoint::runs(const io::SpillSpace& space) {
  std::vector<KeptRun> kept;
  const std::uint64_t journal = identity_of(journal_.lines());
  for (const SpilledRun& run : runs_) {
    kept.push_back({run, journal});
    for (SpilledBlock& block : kept.back().run.blocks) block.place = space.place(block.number);
  }
  for (const OtherPart& part : others_)
    for (const SpilledRun& run : part.runs) {
      kept.push_back({run, part.journal, false});
      const std::size_t files = part.files.size();
      for (SpilledBlock& block : kept.back().run.blocks) {
        block.place = {&part.files[block.number % files], block.number / files * part.block_bytes};
        block.number = kOfAnotherRank;
      }
    }
  return kept;
}

void Checkpoint::add(const SpilledRun& run, const io::SpillSpace& space) {
  space.sync();
  const std::string line = line_of(run);
  const std::lock_guard lock(mutex_);
  journal_.append(line);
}

void Checkpoint::write_to(const KeptOutput& kept) {
  writes_ = true;
  const bool named = std::ranges::any_of(journal_.lines(), [&](const auto& line) { return read_kept(line) == kept; });
  if (named && kept_ == kept) return;
  if (kept_ && kept_ != kept) remove_file(kept_->folder + "/" + kept_->name);
  merged_.clear();
  kept_ = kept;
  journal_.append(fmt::format("output {} {}", as_word(kept.folder), as_word(kept.name)));
}

void Checkpoint::forget_output() {
  if (kept_) remove_file(kept_->folder + "/" + kept_->name);
  kept_.reset();
  merged_.clear();
}

void Checkpoint::doubt() {
  const std::lock_guard lock(mutex_);
  journal_.append(kDoubt);
}

std::vector<MergedPiece> Checkpoint::merged(const RecordLayout& layout) const {
  std::vector<MergedPiece> found;
  for (const std::string& line : merged_)
    if (std::optional<MergedPiece> piece = read_piece(line, kept_->name, layout)) found.push_back(std::move(*piece));
  std::ranges::sort(found, {}, &MergedPiece::first_byte);
  std::vector<MergedPiece> pieces;
  for (MergedPiece& piece : found)
    if (!dropped_.contains(piece.first_byte) && (pieces.empty() || pieces.back().end_byte() <= piece.first_byte))
      pieces.push_back(std::move(piece));
  return pieces;
}

void Checkpoint::add(const MergedPiece& piece) {
  // A line of a piece has two whole lines of the input; pieces with longer ones are merged again.
  constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  const std::string line = line_of(piece, kept_->name);
  if (line.size() > kMaxBytes) return;
  const std::lock_guard lock(mutex_);
  journal_.append(line);
}

void Checkpoint::finish() noexcept {
  remove_part(place_.folders, place_.rank);
  for (const OtherPart& part : others_) remove_part(part.folders, part.rank);
}

}  // namespace hetsort::sort
