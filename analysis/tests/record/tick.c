// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Emits `ros2:tick` COUNT times, GAP microseconds apart: a traced program without ROS 2.
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const int gap_us = argc > 2 ? atoi(argv[2]) : 0;
  for (int i = 0; i < count; i++) {
    tracepoint(ros2, tick, i);
    if (gap_us > 0) {
      usleep(gap_us);
    }
  }
  printf("%d ticks\n", count);
  return 0;
}
