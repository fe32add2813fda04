// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// usage: announce_calls CALLS ADDRESSES
// Announces timers at so many addresses, again and again; prints ns per call and KiB of memory that
// they took, and waits for the end of stdin.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void ros_trace_rcl_timer_init(const void* timer_handle, int64_t period);

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static long resident_kib(void) {
  long size = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &size, &resident) != 2) {
      resident = 0;
    }
    fclose(file);
  }
  return resident * 4;
}

int main(int count, char** arguments) {
  long calls = count > 2 ? atol(arguments[1]) : 0, addresses = count > 2 ? atol(arguments[2]) : 1;
  ros_trace_rcl_timer_init((void*)16, 0);
  long before_kib = resident_kib();
  double begin_ns = now_ns();
  for (long i = 0; i < calls; i++) {
    ros_trace_rcl_timer_init((void*)(uintptr_t)(16 * (i % addresses + 1)), i);
  }
  double each_ns = calls > 0 ? (now_ns() - begin_ns) / (double)calls : 0;
  printf("{\"each_ns\": %.2f, \"kib\": %ld}\n", each_ns, resident_kib() - before_kib);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
