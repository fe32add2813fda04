// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that close descriptors that they did not open, or count on the numbers of new ones.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"
#include "kinds.h"

extern char** environ;

int close_loop(void) {
  for (int fd = 3; fd < 4096; fd++) {
    if (close(fd) == 0) {
      printf("%d was open\n", fd);
    }
  }
  emit(1000);
  return 0;
}

int close_range_call(void) {
  int result = close_range(3, ~0U, 0);
  emit(1000);
  printf("close_range: %d\n", result);
  return 0;
}

int closefrom_call(void) {
  closefrom(3);
  emit(1000);
  return 0;
}

int close_by_system_call(void) {
  long result = syscall(SYS_close_range, 3U, ~0U, 0U);
  emit(1000);
  printf("close_range: %ld\n", result);
  return 0;
}

// What the program opens in their place is its own: nobody else writes into it.
int close_and_reuse(void) {
  char name[] = "/tmp/strataXXXXXX";
  int files[8];
  for (int fd = 3; fd < 2048; fd++) {
    close(fd);
  }
  int first = mkstemp(name);
  for (int i = 0; i < 8; i++) {
    files[i] = open(name, O_RDWR | O_APPEND);
  }
  emit(20000);
  usleep(300000);
  int written = 0;
  for (int i = 0; i < 8; i++) {
    written += write(files[i], "12345678", 8) == 8;
  }
  printf("first %d, written %d, size %ld\n", first, written, (long)lseek(first, 0, SEEK_END));
  unlink(name);
  return 0;
}

int dup_over_all(void) {
  int null = open("/dev/null", O_WRONLY), made = 0;
  for (int fd = 3; fd < 256; fd++) {
    made += dup2(null, fd) == fd;
  }
  emit(20000);
  int whole = 0;
  for (int fd = 3; fd < 256; fd++) {
    whole += write(fd, "x", 1) == 1;
  }
  printf("made %d, whole %d\n", made, whole);
  return 0;
}

int spawn_closing(void) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  char* command[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
  pid_t child;
  int status = 0;
  int error = posix_spawn(&child, "/bin/sh", &actions, NULL, command, environ);
  waitpid(child, &status, 0);
  printf("%d %d\n", error, status);
  return 0;
}

int lowest_descriptor(void) {
  emit(1000);
  for (int i = 0; i < 4; i++) {
    printf("%d\n", open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  return system("ls /proc/self/fd | wc -l");
}

int few_descriptors(void) {
  struct rlimit few = {12, 12};
  setrlimit(RLIMIT_NOFILE, &few);
  emit(1000);
  int opened = 0;
  for (int i = 0; i < 4; i++) {
    opened += open("/dev/null", O_RDONLY) >= 0;
  }
  printf("opened %d\n", opened);
  return 0;
}
