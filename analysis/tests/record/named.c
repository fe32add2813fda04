// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Names NODES nodes, then emits `ros2:tick` for SECONDS, RATE a second. Ten times a second it makes
// a node anew at one handle, under the next name, as a program does that makes and drops things.
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "named.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void name_node(size_t handle, const char* format, int number) {
  char name[32];
  snprintf(name, sizeof name, format, number);
  tracepoint(ros2, rcl_node_init, (const void*)handle, (const void*)(handle + 1), name, "/");
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  const int nodes = atoi(argv[1]);
  const double seconds = atof(argv[2]);
  const double rate = atof(argv[3]);
  for (int i = 0; i < nodes; i++) {
    name_node(0x1000 + 0x10 * (size_t)i, "node_%d", i);
  }
  const double begin = now();
  int number = 0;
  int again = 0;
  for (double at = 0; at < seconds; at = now() - begin) {
    for (; number < at * rate; number++) {
      tracepoint(ros2, tick, number);
    }
    for (; again < at * 10; again++) {
      name_node(0x10, "again_%d", again);
    }
    usleep(2000);
  }
  printf("%d %d\n", number, again);
  return 0;
}
