// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Reads RTPS messages with rtps.c, which it is compiled with, under sanitizers.
//   rtps_driver parse          messages on stdin: a line of parts in hexadecimal, `,` between them;
//                              prints a line of samples for each
//   rtps_driver parse buffers  the same, with parts as Fast DDS has them
//   rtps_driver fuzz SEED N    N broken messages, made from those on stdin; prints how many samples
//                              it found, and what a sum over them is
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rtps.h"

enum { MOST_PARTS = 4096, MOST_LINE = 1 << 18, MOST_SEEDS = 64 };

// Each part in memory of its own size, so that a read beyond it is found.
struct parts {
  struct iovec at[MOST_PARTS];
  size_t count;
};

static void add(struct parts* parts, const uint8_t* bytes, size_t length) {
  void* copy = malloc(length != 0 ? length : 1);
  memcpy(copy, bytes, length);
  parts->at[parts->count++] = (struct iovec){copy, length};
}

static void clear(struct parts* parts) {
  while (parts->count != 0) {
    free(parts->at[--parts->count].iov_base);
  }
}

static size_t from_hexadecimal(const char* text, uint8_t* bytes) {
  size_t length = 0;
  for (unsigned byte; sscanf(text + 2 * length, "%2x", &byte) == 1; length++) {
    bytes[length] = (uint8_t)byte;
  }
  return length;
}

// A length of 32 bits, and something else beside it.
static void make_buffers(struct parts* parts) {
  for (size_t i = 0; i < parts->count; i++) {
    parts->at[i].iov_len |= (size_t)0xdeadbeef << 32;
  }
}

static void print_samples(const struct parts* parts) {
  struct rtps_reader reader;
  struct sample sample;
  if (!rtps_open(&reader, parts->at, parts->count)) {
    printf("none\n");
    return;
  }
  printf("%zu", reader.length);
  while (rtps_next(&reader, &sample)) {
    printf(" ");
    for (int i = 0; i < 16; i++) {
      printf("%02x", sample.guid[i]);
    }
    printf(":%" PRId64 ":%" PRId64 ":%u:%u:%u:%u", sample.sequence, sample.stamp, sample.size,
           sample.fragment, sample.fragment_count, sample.fragment_size);
  }
  printf("\n");
}

static void parse(int buffers) {
  static char line[MOST_LINE];
  static uint8_t bytes[MOST_LINE / 2];
  struct parts parts = {.count = 0};
  while (fgets(line, sizeof(line), stdin) != NULL) {
    char* rest = line;
    for (char* text; (text = strsep(&rest, ",\n")) != NULL && rest != NULL;) {
      add(&parts, bytes, from_hexadecimal(text, bytes));
    }
    if (buffers) {
      make_buffers(&parts);
    }
    print_samples(&parts);
    clear(&parts);
  }
}

static uint64_t next(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return z ^ z >> 31;
}

static void fuzz(uint64_t state, long rounds) {
  static char line[MOST_LINE];
  static uint8_t seeds[MOST_SEEDS][4096], bytes[4096];
  size_t lengths[MOST_SEEDS], count = 0;
  while (count < MOST_SEEDS && fgets(line, sizeof(line), stdin) != NULL) {
    lengths[count] = from_hexadecimal(line, seeds[count]);
    count++;
  }
  uint64_t found = 0, sum = 0;
  for (; rounds > 0; rounds--) {
    size_t seed = next(&state) % count, length = lengths[seed];
    memcpy(bytes, seeds[seed], length);
    for (uint64_t changes = next(&state) % 5; changes > 0 && length > 0; changes--) {
      bytes[next(&state) % length] = (uint8_t)(next(&state) % 3 == 0 ? 0xff : next(&state));
    }
    length -= next(&state) % 4 == 0 && length > 0 ? next(&state) % length : 0;
    struct parts parts = {.count = 0};
    for (size_t at = 0; at < length;) {
      size_t size = 1 + next(&state) % (length - at);
      add(&parts, bytes + at, size);
      at += size;
    }
    struct rtps_reader reader;
    struct sample sample;
    if (rtps_open(&reader, parts.at, parts.count)) {
      for (size_t one = 0; rtps_next(&reader, &sample); one++) {
        found++;
        sum += (uint64_t)sample.sequence + sample.size;
        // A submessage has four bytes: more samples would be an endless loop.
        if (one > length / 4) {
          abort();
        }
      }
    }
    clear(&parts);
  }
  printf("%" PRIu64 " samples, %" PRIu64 "\n", found, sum);
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "fuzz") == 0) {
    fuzz(strtoull(argv[2], NULL, 10), atol(argv[3]));
  } else {
    parse(argc == 3);
  }
  return 0;
}
