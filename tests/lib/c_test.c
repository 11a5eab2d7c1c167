/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library for C, as an outside program uses it. The argument is a folder for files.
 */
#include <hetsort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: not %s; last error: %s\n", __FILE__, __LINE__, #condition, \
              hetsort_last_error()->message);                                            \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

struct record {
  uint64_t key;
  uint64_t place;
};

static hetsort_options* options_for_records(void) {
  hetsort_options* options = hetsort_options_new(HETSORT_VERSION);
  CHECK(options != NULL);
  CHECK(hetsort_options_set(options, "record-size", "16") == 0);
  CHECK(hetsort_options_set(options, "key", "0:u64") == 0);
  return options;
}

static void fill(struct record* records, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) {
    records[i].key = (uint64_t)i * 7919 % 101;
    records[i].place = i;
  }
}

static void count_calls(void* context, const char* phase, uint64_t done_bytes, uint64_t total_bytes) {
  CHECK(phase != NULL);
  CHECK(total_bytes == 0 || done_bytes <= total_bytes);
  ++*(int*)context;
}

static void sorts_memory_in_place_and_apart(void) {
  enum { kCount = 5000 };
  static struct record records[kCount], sorted[kCount];
  static uint64_t places[kCount];
  hetsort_options* options = options_for_records();
  size_t i;
  int calls = 0;
  fill(records, kCount);
  CHECK(hetsort_on_progress(options, count_calls, &calls) == 0);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, sorted, sizeof sorted) == 0);
  CHECK(calls > 0);
  CHECK(records[1].place == 1);
  for (i = 1; i < kCount; ++i)
    CHECK(sorted[i - 1].key < sorted[i].key ||
          (sorted[i - 1].key == sorted[i].key && sorted[i - 1].place < sorted[i].place));
  CHECK(hetsort_argsort_memory(options, records, sizeof records, places, kCount) == 0);
  for (i = 0; i < kCount; ++i) CHECK(places[i] == sorted[i].place);
  CHECK(hetsort_argsort_memory(options, records, sizeof records, places, kCount - 1) == -1);
  CHECK(hetsort_argsort_memory(options, records, sizeof records, NULL, kCount) == -1);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, records, sizeof records) == 0);
  CHECK(memcmp(records, sorted, sizeof sorted) == 0);
  hetsort_options_free(options);
}

static void mistakes_are_errors_and_change_nothing(void) {
  struct record records[10];
  struct record before[10];
  hetsort_options* options = options_for_records();
  fill(records, 10);
  memcpy(before, records, sizeof records);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, records, sizeof records - 16) == -1);
  CHECK(hetsort_last_error()->kind == HETSORT_REQUEST);
  CHECK(hetsort_sort_memory(options, NULL, records, 17, records, 17) == -1);
  CHECK(hetsort_sort_memory(options, NULL, NULL, 16, records, 16) == -1);
  CHECK(strcmp(hetsort_last_error()->reason, "records is NULL") == 0);
  CHECK(hetsort_sort_memory(NULL, NULL, records, 16, records, 16) == -1);
  CHECK(hetsort_options_set(options, "output", NULL) != 0);
  CHECK(strcmp(hetsort_last_error()->message, "option 'output' wants a value") == 0);
  CHECK(hetsort_options_set(options, "memory", "") != 0);
  CHECK(hetsort_options_set(options, "", "in") != 0);
  CHECK(hetsort_options_set(options, "a=b", NULL) != 0);
  CHECK(hetsort_sort_memory(options, NULL, NULL, 16, NULL, 16) != 0);
  CHECK(hetsort_last_error()->kind == HETSORT_REQUEST);
  CHECK(hetsort_options_set(options, "frobnicate", "1") == 0);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, records, sizeof records) == -1);
  CHECK(strstr(hetsort_last_error()->message, "frobnicate") != NULL);
  CHECK(memcmp(before, records, sizeof records) == 0);
  hetsort_options_free(options);

  options = options_for_records();
  CHECK(hetsort_options_set(options, "mistake", "this program is wrong") == 0);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, records, sizeof records) == -1);
  CHECK(strstr(hetsort_last_error()->message, "this program is wrong") != NULL);
  hetsort_options_free(options);

  options = options_for_records();
  hetsort_cancel(options);
  CHECK(hetsort_sort_memory(options, NULL, records, sizeof records, records, sizeof records) == -1);
  CHECK(hetsort_last_error()->kind == HETSORT_CANCELLED);
  CHECK(memcmp(before, records, sizeof records) == 0);
  hetsort_options_free(options);
}

static void files_and_their_errors(const char* folder) {
  char in[1024], out[1024];
  struct record records[100], second[50];
  FILE* file;
  struct stat status;
  hetsort_options* options = options_for_records();
  snprintf(in, sizeof in, "%s/in", folder);
  snprintf(out, sizeof out, "%s/out", folder);
  CHECK(hetsort_options_set(options, "input", in) == 0);
  CHECK(hetsort_options_set(options, "output", out) == 0);
  CHECK(hetsort_sort_files(options, NULL) == -1);
  CHECK(hetsort_last_error()->kind == HETSORT_FILE);
  CHECK(hetsort_last_error()->rank == 0);
  CHECK(strcmp(hetsort_last_error()->operation, "open") == 0);
  CHECK(strcmp(hetsort_last_error()->path, in) == 0);
  CHECK(strcmp(hetsort_report(options), "") == 0);
  fill(records, 100);
  file = fopen(in, "wb");
  CHECK(file != NULL && fwrite(records, sizeof records, 1, file) == 1 && fclose(file) == 0);
  CHECK(hetsort_sort_files(options, NULL) == 0);
  CHECK(strcmp(hetsort_last_error()->message, "") == 0);
  CHECK(strstr(hetsort_report(options), "\"records\":100") != NULL);
  file = fopen(out, "rb");
  CHECK(file != NULL && fread(records, sizeof records, 1, file) == 1 && fclose(file) == 0);
  CHECK(records[0].key == 0 && records[99].key >= records[98].key);
  /* A second output gets the second half. */
  snprintf(out, sizeof out, "%s/second", folder);
  CHECK(hetsort_options_set(options, "output", out) == 0);
  CHECK(hetsort_options_set(options, "owner-only", NULL) == 0);
  CHECK(hetsort_sort_files(options, NULL) == 0);
  CHECK(stat(out, &status) == 0 && (status.st_mode & 0777) == 0600);
  file = fopen(out, "rb");
  CHECK(file != NULL && fread(second, sizeof second, 1, file) == 1 && fgetc(file) == EOF && fclose(file) == 0);
  CHECK(memcmp(second, records + 50, sizeof second) == 0);
  hetsort_options_free(options);
}

static void plans(void) {
  uint64_t shares[2] = {0, 0};
  const char* json;
  hetsort_options* options = hetsort_options_new(HETSORT_VERSION);
  CHECK(hetsort_plan(options, shares, 2) == NULL);
  CHECK(hetsort_last_error()->kind == HETSORT_REQUEST);
  CHECK(hetsort_options_set(options, "records", "3000000") == 0);
  CHECK(hetsort_options_set(options, "speeds", "1,2") == 0);
  CHECK(hetsort_options_set(options, "strategy", "proportional") == 0);
  json = hetsort_plan(options, shares, 2);
  CHECK(json != NULL && strstr(json, "hetsort.plan/1") != NULL);
  CHECK(shares[0] == 1000000 && shares[1] == 2000000);
  hetsort_options_free(options);
}

static void newer_headers_and_other_mpis_are_refused(void) {
  int communicator = 0;
  struct record records[1];
  hetsort_options* options = options_for_records();
  hetsort_ranks* ranks = hetsort_ranks_new(&communicator, sizeof communicator, "Another MPI");
  CHECK(hetsort_version() == HETSORT_VERSION);
  CHECK(hetsort_options_new(HETSORT_VERSION + 1) == NULL);
  CHECK(strstr(hetsort_last_error()->message, "older than the headers") != NULL);
  CHECK(hetsort_ranks_new(NULL, 8, "Open MPI") == NULL);
  CHECK(hetsort_ranks_new(&communicator, 1000, "Open MPI") == NULL);
  CHECK(ranks != NULL);
  fill(records, 1);
  CHECK(hetsort_sort_memory(options, ranks, records, sizeof records, records, sizeof records) == -1);
  CHECK(strstr(hetsort_last_error()->message, "Another MPI") != NULL);
  hetsort_ranks_free(ranks);
  hetsort_options_free(options);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  sorts_memory_in_place_and_apart();
  mistakes_are_errors_and_change_nothing();
  files_and_their_errors(argv[1]);
  plans();
  newer_headers_and_other_mpis_are_refused();
  return 0;
}
