// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Linked to LTTng-UST. Prints the descriptors that it has not opened, what becomes of calls that
// would take them away, what is left of them, and what a program that it executes has.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int open_from(int first, int* found, int most) {
  int count = 0;
  for (int fd = first; fd < 4096 && count < most; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) {
      found[count++] = fd;
    }
  }
  return count;
}

static void tell(const char* call, int result) { printf(" %s %d %d", call, result, errno); }

int main(void) {
  int owned[512], left[512];
  int count = open_from(3, owned, 512);
  for (int i = 0; i < count; i++) {
    printf("owned %d %d", owned[i], fcntl(owned[i], F_GETFD) == FD_CLOEXEC);
    errno = 0;
    tell("close", close(owned[i]));
    errno = 0;
    tell("dup2", dup2(0, owned[i]));
    errno = 0;
    tell("dup3", dup3(0, owned[i], O_CLOEXEC));
    printf("\n");
  }
  int own = dup(0);
  printf("own %d", own);
  errno = 0;
  tell("close_range", close_range(3, ~0U, 0));
  errno = 0;
  tell("close", close(own));
  own = dup(0);
  errno = 0;
  closefrom(3);
  tell("closefrom", 0);
  errno = 0;
  tell("close", close(own));
  errno = 0;
  tell("range", close_range(5, 4, 0));
  printf("\nleft %d\n", open_from(3, left, 512));
  fflush(stdout);
  execl("/bin/ls", "ls", "-x", "/proc/self/fd", NULL);
  return 1;
}
