// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Emits `ros2:tick` COUNT times, then as often in a child made by fork, once it is recorded.
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tick.h"

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const pid_t parent = getpid();
  for (int i = 0; i < count; i++) {
    tracepoint(ros2, tick, i);
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int turns = 0; !tracepoint_enabled(ros2, tick) && turns < 300; turns++) {
      usleep(100000);
    }
    // Between the event's and the session's start.
    usleep(500000);
    for (int i = 0; i < count; i++) {
      tracepoint(ros2, tick, i);
    }
    return 0;
  }
  waitpid(child, NULL, 0);
  printf("%d %d\n", parent, child);
  return 0;
}
