// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// THREADS RATE MS FILLING STATUS FIFO: a traced program that says what it emitted.
//
// Each of THREADS threads emits `ros2:numbered` RATE times a second for MS milliseconds, with
// FILLING bytes in each event, and then writes (thread, number, CLOCK_MONOTONIC in ns of before the
// event) to FIFO: 16 bytes, never torn. The process ends with STATUS. A pipe, as its bytes outlive
// a kill and count for no limit of file sizes.
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "numbers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64

struct record {
  uint32_t thread;
  uint32_t number;
  int64_t monotonic_ns;
};

static int rate;
static int64_t end_ns;
static unsigned int filling_size;
static char* filling;
static int fifo;
static unsigned int counts[MOST_THREADS];

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void* emit(void* argument) {
  const uint32_t thread = (uint32_t)(intptr_t)argument;
  int64_t due_ns = now_ns();
  for (uint32_t number = 0; due_ns < end_ns; number++) {
    struct timespec due = {due_ns / INT64_C(1000000000), due_ns % INT64_C(1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    const struct record record = {thread, number, now_ns()};
    tracepoint(ros2, numbered, thread, number, filling, filling_size);
    if (write(fifo, &record, sizeof record) != (ssize_t)sizeof record) {
      perror("numbers");
      exit(9);
    }
    counts[thread] = number + 1;
    due_ns += INT64_C(1000000000) / rate;
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 7 || (fifo = open(argv[6], O_WRONLY)) < 0) {
    fprintf(stderr, "usage: numbers THREADS RATE MS FILLING STATUS FIFO\n");
    return 9;
  }
  const int threads = atoi(argv[1]) < MOST_THREADS ? atoi(argv[1]) : MOST_THREADS;
  rate = atoi(argv[2]);
  end_ns = now_ns() + atoi(argv[3]) * INT64_C(1000000);
  filling_size = (unsigned int)atoi(argv[4]);
  filling = calloc(1, filling_size + 1);
  pthread_t ids[MOST_THREADS];
  for (intptr_t thread = 0; thread < threads; thread++) {
    pthread_create(&ids[thread], NULL, emit, (void*)thread);
  }
  unsigned int sum = 0;
  for (int thread = 0; thread < threads; thread++) {
    pthread_join(ids[thread], NULL);
    sum += counts[thread];
  }
  printf("%u numbers of %d threads\n", sum, threads);
  return atoi(argv[5]);
}
