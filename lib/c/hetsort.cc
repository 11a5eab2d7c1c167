// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "hetsort.h"

#include <algorithm>
#include <new>
#include <stop_token>
#include <string>

#include "lib/call.h"
#include "lib/requests.h"

struct hetsort_options {
  hetsort::lib::NamedTexts texts;
  std::vector<std::string> inputs;
  std::string mistake;
  bool owner_only = false;
  hetsort::Control control;
  std::stop_source stop;
  std::string report;
  hetsort::lib::Planned planned;
};

struct hetsort_ranks {
  hetsort::Ranks ranks;
};

namespace hetsort::lib {

namespace {

/// The texts behind hetsort_last_error().
struct LastError {
  std::string message;
  Error::Parts parts;
  hetsort_error error{};
};

LastError& last_error() {
  thread_local LastError last;
  return last;
}

/// Keeps the exception that is being handled. Without memory for it, only its kind is kept.
void keep_error() noexcept {
  LastError& last = last_error();
  try {
    try {
      throw;
    } catch (const Error& error) {
      last.message = error.what();
      last.parts = {error.kind(), error.rank(), error.operation(), error.path(), error.reason()};
    } catch (const std::bad_alloc&) {
      last.message = "out of memory";
      last.parts = {.kind = ErrorKind::kMemory, .reason = last.message};
    } catch (const std::exception& error) {
      last.message = error.what();
      last.parts = {.reason = last.message};
    } catch (...) {
      last.message = "unknown error";
      last.parts = {.reason = last.message};
    }
  } catch (...) {
    last.parts.kind = ErrorKind::kMemory;
  }
}

/// Runs `work`; no exception leaves this function. Returns `failed` after one.
template <class Result, class Work>
Result guarded(Result failed, const Work& work) noexcept {
  last_error().message.clear();
  last_error().parts = {};
  try {
    return work();
  } catch (...) {
    keep_error();
    return failed;
  }
}

Control control_of(const hetsort_options& options) {
  Control control = options.control;
  control.stop = options.stop.get_token();
  return control;
}

const Ranks& ranks_of(const hetsort_ranks* ranks) {
  static const Ranks alone;
  return ranks == nullptr ? alone : ranks->ranks;
}

/// Fills a request with the options by their names.
FillSort fill_from(const hetsort_options& options) {
  return [&options](job::SortRequest&, job::Options& into) { set_all(into, options.texts); };
}

template <class Pointer>
void require(const Pointer* pointer, const char* name) {
  if (pointer == nullptr) throw_request_error(std::string(name) + " is NULL");
}

}  // namespace

}  // namespace hetsort::lib

namespace lib = hetsort::lib;

const hetsort_error* hetsort_last_error() {
  lib::LastError& last = lib::last_error();
  last.error = {static_cast<int>(last.parts.kind), last.parts.rank,         last.message.c_str(),
                last.parts.operation.c_str(),      last.parts.path.c_str(), last.parts.reason.c_str()};
  return &last.error;
}

int hetsort_version() { return HETSORT_VERSION; }

hetsort_options* hetsort_options_new(int header_version) {
  return lib::guarded<hetsort_options*>(nullptr, [&] {
    lib::check_header_version(header_version);
    return new hetsort_options();
  });
}

void hetsort_options_free(hetsort_options* options) { delete options; }

int hetsort_options_set(hetsort_options* options, const char* name, const char* value) {
  return lib::guarded(-1, [&] {
    lib::require(options, "options");
    lib::require(name, "name");
    if (std::string(name) == "input") {
      lib::require(value, "the value of 'input'");
      options->inputs.emplace_back(value);
      return 0;
    }
    if (std::string(name) == "mistake") {
      options->mistake = value == nullptr ? "" : value;
      return 0;
    }
    if (std::string(name) == "owner-only") {
      options->owner_only = true;
      return 0;
    }
    lib::check_option(name, value != nullptr && *value != '\0');
    options->texts.emplace_back(name, value == nullptr ? "" : value);
    return 0;
  });
}

int hetsort_on_progress(hetsort_options* options, hetsort_progress progress, void* context) {
  return lib::guarded(-1, [&] {
    lib::require(options, "options");
    options->control.progress = nullptr;
    if (progress != nullptr)
      options->control.progress = [progress, context](const hetsort::Progress& now) {
        progress(context, now.phase.c_str(), now.done_bytes, now.total_bytes);
      };
    return 0;
  });
}

void hetsort_cancel(hetsort_options* options) {
  if (options != nullptr) options->stop.request_stop();
}

hetsort_ranks* hetsort_ranks_new(const void* communicator, size_t bytes, const char* mpi) {
  return lib::guarded<hetsort_ranks*>(nullptr, [&] {
    lib::require(communicator, "communicator");
    lib::require(mpi, "mpi");
    if (bytes == 0) lib::throw_request_error("a communicator has more than 0 bytes");
    return new hetsort_ranks{hetsort::Ranks(communicator, bytes, mpi)};
  });
}

void hetsort_ranks_free(hetsort_ranks* ranks) { delete ranks; }

int hetsort_sort_files(hetsort_options* options, const hetsort_ranks* ranks) {
  return lib::guarded(-1, [&] {
    lib::require(options, "options");
    options->report.clear();
    const hetsort::Control control = lib::control_of(*options);
    const auto fill = [&](hetsort::job::SortRequest& request, hetsort::job::Options& into) {
      request.phases.input.paths = options->inputs;
      request.phases.output.owner_only = options->owner_only;
      lib::set_all(into, options->texts);
    };
    options->report = lib::sort_files(fill, {lib::ranks_of(ranks), control, options->mistake}).report;
    return 0;
  });
}

const char* hetsort_report(const hetsort_options* options) { return options == nullptr ? "" : options->report.c_str(); }

int hetsort_sort_memory(hetsort_options* options, const hetsort_ranks* ranks, const void* records, uint64_t bytes,
                        void* sorted, uint64_t sorted_bytes) {
  return lib::guarded(-1, [&] {
    lib::require(options, "options");
    std::string mistake = options->mistake;  // thrown here, it would leave other ranks waiting
    if (bytes > 0 && records == nullptr) mistake = "records is NULL";
    if (sorted_bytes > 0 && sorted == nullptr) mistake = "sorted is NULL";
    const hetsort::Control control = lib::control_of(*options);
    lib::sort_in_memory(lib::fill_from(*options), {lib::ranks_of(ranks), control, mistake},
                        {static_cast<const std::byte*>(records), bytes},
                        {static_cast<std::byte*>(sorted), sorted_bytes});
    return 0;
  });
}

int hetsort_argsort_memory(hetsort_options* options, const void* records, uint64_t bytes, uint64_t* places,
                           uint64_t count) {
  return lib::guarded(-1, [&] {
    lib::require(options, "options");
    if (bytes > 0) lib::require(records, "records");
    if (count > 0) lib::require(places, "places");
    const hetsort::Control control = lib::control_of(*options);
    lib::sort_in_memory(lib::fill_from(*options), {lib::ranks_of(nullptr), control, options->mistake},
                        {static_cast<const std::byte*>(records), bytes}, {}, {places, count});
    return 0;
  });
}

const char* hetsort_plan(hetsort_options* options, uint64_t* shares, size_t count) {
  return lib::guarded<const char*>(nullptr, [&] {
    lib::require(options, "options");
    if (count > 0) lib::require(shares, "shares");
    options->planned = lib::plan(options->texts);
    const std::vector<std::uint64_t>& planned = options->planned.shares;
    std::copy_n(planned.begin(), std::min(count, planned.size()), shares);
    return options->planned.json.c_str();
  });
}
