// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One program of each kind: main.c NAME [MARK]. With a MARK it emits events, too, before and after
// what the kind is about. A kind prints what it found and returns its exit status.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "kinds.h"

long emitted_as;

void emit(int times) {
  void (*start)(const void*, bool) = NULL;
  if (emitted_as != 0) {
    *(void**)&start = dlsym(RTLD_DEFAULT, "ros_trace_callback_start");
  }
  for (int i = 0; start != NULL && i < times; i++) {
    start((const void*)emitted_as, false);
  }
}

int main(int argc, char** argv) {
  // A process is told what it may do before it does it.
  setvbuf(stdout, NULL, _IONBF, 0);
  emitted_as = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  for (const struct kind* kind = kinds; argc > 1 && kind->name != NULL; kind++) {
    if (strcmp(kind->name, argv[1]) == 0) {
      emit(10);
      int status = kind->run();
      emit(10);
      return status;
    }
  }
  fprintf(stderr, "no such kind\n");
  return 2;
}
