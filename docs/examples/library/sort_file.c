/* SPDX-FileCopyrightText: The hetsort authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sorts a file of 24-byte records by the 64-bit number at byte 8:
 *
 *   cc sort_file.c $(pkg-config --cflags --libs hetsort) -o sort_file && ./sort_file IN OUT
 */
#include <hetsort.h>
#include <stdio.h>

int main(int argc, char** argv) {
  hetsort_options* options = hetsort_options_new(HETSORT_VERSION);
  int failed = 1;
  if (argc == 3 && options != NULL) {
    hetsort_options_set(options, "input", argv[1]);
    hetsort_options_set(options, "output", argv[2]);
    hetsort_options_set(options, "record-size", "24");
    hetsort_options_set(options, "key", "8:u64");
    failed = hetsort_sort_files(options, NULL) != 0;
  }
  if (failed) fprintf(stderr, "%s\n", hetsort_last_error()->message);
  hetsort_options_free(options);
  return failed ? 2 : 0;
}
