// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A library that a user preloads: it counts what a program closes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int closed;

int close(int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
  closed++;
  return next(fd);
}

__attribute__((destructor)) static void tell(void) { printf("closed %d\n", closed > 1000); }
