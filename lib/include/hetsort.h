/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sorting and planning from C and other languages. docs/library.md has examples.
 *
 * Functions that return int return 0, or -1 after an error, which hetsort_last_error() describes. Functions that return
 * a pointer return NULL then. No exception leaves the library. Objects of one thread need no locks; only
 * hetsort_cancel() may be called on any thread.
 */
#pragma once

#include <hetsort/version.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hetsort_options hetsort_options;
typedef struct hetsort_ranks hetsort_ranks;

enum hetsort_error_kind {
  HETSORT_OTHER = 0,
  HETSORT_REQUEST = 1,   /* the request is impossible: options, layouts or ranks do not fit together */
  HETSORT_FILE = 2,      /* an operation on a file failed */
  HETSORT_MEMORY = 3,    /* memory, or what the options allow of it, does not suffice */
  HETSORT_PROOF = 4,     /* the result is not the sorted input: a fault of memory, disk or program */
  HETSORT_CANCELLED = 5, /* hetsort_cancel() was called */
};

/* The texts are never NULL; they are empty where nothing is known. */
typedef struct hetsort_error {
  int kind;
  int rank;              /* the rank that failed first; -1 = all of them, or no particular one */
  const char* message;   /* all of what follows in one sentence */
  const char* operation; /* on a file, such as "write" */
  const char* path;      /* of that file */
  const char* reason;
} hetsort_error;

/* The last error of this thread, until its next call of this library. */
const hetsort_error* hetsort_last_error(void);

/* The version of the library, as HETSORT_VERSION is of the headers. */
int hetsort_version(void);

/* The options of one or several calls. Pass HETSORT_VERSION: NULL if the library is older than the headers. */
hetsort_options* hetsort_options_new(int header_version);
void hetsort_options_free(hetsort_options* options);

/* Adds a long option of the program `hetsort`, without the dashes: "output", "record-size", "key", "memory", "speeds".
 * An option that the program takes several times, such as "output", can be added several times. `value` is NULL for an
 * option without a value. "input" names an input. "mistake" says why this rank cannot take part in a collective call,
 * which then fails for that reason on all ranks. "owner-only", without a value, gives new output files mode 0600
 * whatever the umask is. The call that uses options checks them. */
int hetsort_options_set(hetsort_options* options, const char* name, const char* value);

/* `progress` is called a few times a second, on a thread of the library, with the name of the phase, the bytes done
 * by all phases so far, and in all (0 = not known). NULL ends that. */
typedef void (*hetsort_progress)(void* context, const char* phase, uint64_t done_bytes, uint64_t total_bytes);
int hetsort_on_progress(hetsort_options* options, hetsort_progress progress, void* context);

/* Makes the calls that run with these options fail, on all ranks, and those that begin later. It comes too late for a
 * call that has begun to publish its output. Any thread. */
void hetsort_cancel(hetsort_options* options);

/* The ranks of an MPI communicator: hetsort_ranks_new(&communicator, sizeof communicator, HETSORT_MPI_NAME), see
 * <hetsort/mpi.h>. All ranks make each call that gets them together. NULL in place of ranks = this process alone. */
hetsort_ranks* hetsort_ranks_new(const void* communicator, size_t bytes, const char* mpi);
void hetsort_ranks_free(hetsort_ranks* ranks);

/* Sorts files with the options of `hetsort sort`. Collective. */
int hetsort_sort_files(hetsort_options* options, const hetsort_ranks* ranks);

/* The report of the last hetsort_sort_files() with these options, as of option --report; "" on ranks other than 0. */
const char* hetsort_report(const hetsort_options* options);

/* Sorts the records of all ranks: `bytes` bytes at `records` on this one, which ends with `sorted_bytes` bytes at
 * `sorted`. All ranks end with as many records together as they have. `sorted` may be `records`. After an error the
 * records are as before. Options: record-size, key, reverse, memory, threads. Collective. */
int hetsort_sort_memory(hetsort_options* options, const hetsort_ranks* ranks, const void* records, uint64_t bytes,
                        void* sorted, uint64_t sorted_bytes);

/* Stores the numbers of the records in sorted order at `places`, counted from 0: `count` records, `bytes` bytes at
 * `records`, which stay as they are. `places` must be apart from them. Options: as hetsort_sort_memory(). */
int hetsort_argsort_memory(hetsort_options* options, const void* records, uint64_t bytes, uint64_t* places,
                           uint64_t count);

/* Plans with the options of `hetsort plan`: "records", and "speeds" or "cluster". Stores the shares of the first
 * `count` nodes at `shares`. Returns the plan as JSON (schema hetsort.plan/1) until the next call with these options.
 */
const char* hetsort_plan(hetsort_options* options, uint64_t* shares, size_t count);

#ifdef __cplusplus
}
#endif
