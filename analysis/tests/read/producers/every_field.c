// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// every_field ROUNDS THREADS SEED [PAUSE_US [COUNTERS]]: emits every event of every_field.h once a
// round and thread, and prints how often each as JSON. The values come from SEED, any text. With
// the file COUNTERS, the counts are kept there too, a 64-bit number a thread and event in the order
// of EMITTERS, each raised after its event: they outlive the process, which waits to be killed.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "every_field.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app_context.h"

// clang-format off
#define EMITTERS(X) \
  X(integers) X(integers_hex) X(integers_network) X(floats) X(arrays) X(sequences) X(texts) \
  X(enums) X(nowrite) X(names) X(empty) X(critical) X(debugging) TENS(X, 0) TENS(X, 1) TENS(X, 2)
#define TENS(X, t) \
  X(n##t##0) X(n##t##1) X(n##t##2) X(n##t##3) X(n##t##4) X(n##t##5) X(n##t##6) X(n##t##7) \
  X(n##t##8) X(n##t##9)
// clang-format on
#define NAME(event) "every:" #event,
#define INDEX(event) AT_##event,

static const char* const NAMES[] = {EMITTERS(NAME)};
enum { EMITTERS(INDEX) EVENTS };

struct job {
  uint64_t rounds, state;
  unsigned pause_us;
  volatile uint64_t* counts;
};

static void* emit(void* argument) {
  const struct job* job = argument;
  uint64_t state = job->state;
  for (uint64_t round = 0; round < job->rounds; round++) {
    struct values v;
    fill(&v, round, &state);
    app_context_set(round);
#define EMIT(event)                       \
  lttng_ust_tracepoint(every, event, &v); \
  job->counts[AT_##event]++;
    EMITTERS(EMIT)
    if (job->pause_us > 0) usleep(job->pause_us);
  }
  return NULL;
}

static volatile uint64_t* counters(const char* path, unsigned threads) {
  const size_t size = sizeof(uint64_t) * EVENTS * threads;
  const int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
  if (path && (file < 0 || ftruncate(file, (off_t)size) != 0)) return NULL;
  const int how = path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* at = mmap(NULL, size, PROT_READ | PROT_WRITE, how, file, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void print(const volatile uint64_t* counts, unsigned threads) {
  for (unsigned event = 0; event < EVENTS; event++) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < threads; i++) sum += counts[i * EVENTS + event];
    printf("%s\"%s\": %llu", event ? ", " : "{", NAMES[event], (unsigned long long)sum);
  }
  puts("}");
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const unsigned threads = (unsigned)atoi(argv[2]);
  volatile uint64_t* counts = counters(argc > 5 ? argv[5] : NULL, threads);
  pthread_t* thread = calloc(threads, sizeof(*thread));
  struct job* jobs = calloc(threads, sizeof(*jobs));
  if (!counts || !thread || !jobs || !app_context_register()) return 1;
  uint64_t seed = seed_of(argv[3]);
  for (unsigned i = 0; i < threads; i++) {
    jobs[i].rounds = strtoull(argv[1], NULL, 10);
    jobs[i].state = draw(&seed);
    jobs[i].pause_us = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
    jobs[i].counts = counts + i * EVENTS;
    if (pthread_create(&thread[i], NULL, emit, &jobs[i]) != 0) return 1;
  }
  for (unsigned i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  print(counts, threads);
  fflush(stdout);
  if (argc > 5) pause();
  return 0;
}
