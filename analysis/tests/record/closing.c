// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Forks COUNT children; each closes all files that it does not know, as launchers do, and executes
// another program a moment later. Prints how many did not end well.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int failed = 0;
  for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
    const pid_t child = fork();
    if (child == 0) {
      close_range(3, ~0U, 0);
      usleep(50000);
      char* nothing[] = {NULL};
      execle("/bin/true", "true", NULL, nothing);
      _exit(1);
    }
    int status;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  printf("%d failed\n", failed);
  return 0;
}
