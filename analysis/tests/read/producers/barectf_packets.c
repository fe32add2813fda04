// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// barectf_packets ROUNDS SEED DIRECTORY: writes a data stream file each for `bits` and `aligned`
// and two for `bytes` (barectf_types.yaml), and prints as JSON how often each event was recorded,
// and how many were discarded because the back end said it was full.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barectf.h"
#include "values.h"

// clang-format off
#define EVENTS(X) \
  X(bytes, integers) X(bytes, reals) X(bytes, texts) X(bytes, arrays) X(bytes, empty) \
  X(bits, odd) X(bits, enums) X(bits, bit_arrays) X(aligned, padded)
// clang-format on
#define INDEX(stream, event) AT_##event,
#define NAME(stream, event) #event,
enum { EVENTS(INDEX) NUMBER };
static const char* const NAMES[] = {EVENTS(NAME)};
static unsigned long recorded[NUMBER];
static uint64_t now = 5000000000, clock_state = 1;

struct stream {
  union {
    struct barectf_bytes_ctx bytes;
    struct barectf_bits_ctx bits;
    struct barectf_aligned_ctx aligned;
  } of;
  FILE* file;
  void (*open_packet)(void*);
  void (*close_packet)(void*);
  unsigned cpu, packets, refused;
  uint8_t buffer[1024];
};

static uint64_t tick(void* data) {
  (void)data;
  return now += draw(&clock_state) % 3;
}

// After every fifth packet, three events find no room.
static int is_full(void* data) {
  struct stream* stream = data;
  return stream->packets % 5 == 4 && stream->refused++ % 4 != 3;
}

static void write_packet(struct stream* stream) {
  if (fwrite(stream->buffer, sizeof(stream->buffer), 1, stream->file) != 1) exit(1);
  stream->packets++;
}

static void open_bytes(void* data) {
  struct stream* stream = data;
  barectf_bytes_open_packet(&stream->of.bytes, stream->cpu, stream->packets % 2 ? "v1" : "v1.23");
}
static void open_bits(void* data) { barectf_bits_open_packet(&((struct stream*)data)->of.bits); }
static void open_aligned(void* data) {
  barectf_aligned_open_packet(&((struct stream*)data)->of.aligned);
}
static void close_bytes(void* data) {
  barectf_bytes_close_packet(&((struct stream*)data)->of.bytes);
  write_packet(data);
}
static void close_bits(void* data) {
  barectf_bits_close_packet(&((struct stream*)data)->of.bits);
  write_packet(data);
}
static void close_aligned(void* data) {
  barectf_aligned_close_packet(&((struct stream*)data)->of.aligned);
  write_packet(data);
}

static struct stream* start(const char* directory, const char* name, unsigned cpu,
                            void (*open_packet)(void*), void (*close_packet)(void*)) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s_%u", directory, name, cpu);
  struct stream* stream = calloc(1, sizeof(*stream));
  if (!stream || !(stream->file = fopen(path, "wb"))) exit(1);
  stream->cpu = cpu;
  stream->open_packet = open_packet;
  stream->close_packet = close_packet;
  const struct barectf_platform_callbacks callbacks = {
      .fast_clock_get_value = tick,
      .watch_clock_get_value = tick,
      .is_backend_full = is_full,
      .open_packet = open_packet,
      .close_packet = close_packet,
  };
  barectf_init(&stream->of, stream->buffer, sizeof(stream->buffer), callbacks, stream);
  open_packet(stream);
  return stream;
}

// Returns what it discarded, which its last packet tells.
static unsigned finish(struct stream* stream) {
  const unsigned discarded = barectf_discarded_event_records_count(&stream->of);
  if (!barectf_packet_is_open(&stream->of)) stream->open_packet(stream);
  stream->close_packet(stream);
  if (fclose(stream->file) != 0) exit(1);
  free(stream);
  return discarded;
}

#define TRACE(stream, kind, event, ...)                                                     \
  do {                                                                                      \
    const unsigned before = barectf_discarded_event_records_count(&(stream)->of);           \
    barectf_##kind##_trace_##event(&(stream)->of.kind, __VA_ARGS__);                        \
    recorded[AT_##event] += barectf_discarded_event_records_count(&(stream)->of) == before; \
  } while (0)

static uint64_t bits_of(const void* real, size_t size) {
  uint64_t bits = 0;
  uint32_t half;
  if (size == sizeof(bits)) return memcpy(&bits, real, size), bits;
  return memcpy(&half, real, size), half;
}

static void trace_bytes(struct stream* s, const struct values* v, const char* text) {
  const int32_t thread = 100 + (int32_t)s->cpu;
  const char* task = v->round % 3 ? "worker" : "idle";
  const char* words[ELEMENTS] = {text, "", "word", text};
  const uint16_t* matrix[] = {v->u16, v->u16 + 1};
  const int32_t* pairs[] = {v->s32, v->s32 + 1, v->s32 + 2, v->s32};
  uint64_t reals[ELEMENTS];
  for (unsigned i = 0; i < ELEMENTS; i++) {
    const double real = i % 2 ? v->real : v->single;
    reals[i] = bits_of(&real, sizeof(real));
  }
  TRACE(s, bytes, integers, thread, task, v->round, v->u8[0], v->s8[1], v->u16[2], v->s16[3],
        v->u32[0], v->s32[1], v->u64[2], v->s64[3]);
  TRACE(s, bytes, reals, thread, task, bits_of(&v->single, 4), v->u8[0], bits_of(&v->real, 8));
  TRACE(s, bytes, texts, thread, task, text, words[v->length % ELEMENTS], words, v->length, words);
  TRACE(s, bytes, arrays, thread, task, v->s16, v->u8, v->u16, matrix, v->length, v->u64,
        ELEMENTS - v->length, v->u8, v->length, reals, v->length, pairs);
  TRACE(s, bytes, empty, thread, task);
}

static void trace_bits(struct stream* s, const struct values* v, const char* text) {
  const uint8_t flags[] = {v->u8[0] & 1, v->u8[1] & 1, v->u8[2] & 1, v->u8[3] & 1, 1};
  TRACE(s, bits, odd, v->u[0] & 1, v->u[1], v->u[2], v->u[3], v->u[4], v->u[5], v->u[6], v->u[7],
        v->u[0], v->u[1], v->u[2], v->u[3] & 1, v->u[4], v->u[5]);
  TRACE(s, bits, enums, v->u[0] & 7, v->s16[0], v->u8);
  TRACE(s, bits, bit_arrays, flags, v->length, v->u8, text, v->s16);
}

static void trace_aligned(struct stream* s, const struct values* v, const char* text) {
  TRACE(s, aligned, padded, v->u[0], v->u[1], v->u[2], v->u[3], v->u[4] & 1, v->u[5] & 15,
        v->single, v->u[6], text, v->real, v->length, v->u32, v->u[7] & 1);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const uint64_t rounds = strtoull(argv[1], NULL, 10);
  uint64_t state = seed_of(argv[2]);
  struct stream* first = start(argv[3], "bytes", 0, open_bytes, close_bytes);
  struct stream* second = start(argv[3], "bytes", 1, open_bytes, close_bytes);
  struct stream* bits = start(argv[3], "bits", 0, open_bits, close_bits);
  struct stream* aligned = start(argv[3], "aligned", 0, open_aligned, close_aligned);
  for (uint64_t round = 0; round < rounds; round++) {
    struct values v;
    fill(&v, round, &state);
    const char* text = v.string ? v.string : "never null";
    if (draw(&state) % 8 == 0) now += draw(&state) % (1 << 25);
    trace_bytes(round % 4 ? first : second, &v, text);
    trace_bits(bits, &v, text);
    trace_aligned(aligned, &v, text);
  }
  const unsigned discarded = finish(first) + finish(second) + finish(bits);
  finish(aligned);  // its packets do not tell
  printf("{\"discarded\": %u", discarded);
  for (unsigned i = 0; i < NUMBER; i++) printf(", \"%s\": %lu", NAMES[i], recorded[i]);
  puts("}");
  return 0;
}
