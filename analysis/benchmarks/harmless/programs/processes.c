// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that make processes, threads and namespaces, and that use signals.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"
#include "kinds.h"

static int status_of(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Twice forked, a session of its own, every file closed; its answer comes by a pipe.
int daemonize(void) {
  int answer[2];
  if (pipe(answer) != 0) {
    return 1;
  }
  pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) {
      _exit(0);
    }
    dup2(answer[1], 3);
    for (int fd = 4; fd < 4096; fd++) {
      close(fd);
    }
    emit(100);
    usleep(1500000);
    for (int fd = 4; fd < 4096; fd++) {
      close(fd);
    }
    emit(100);
    _exit(write(3, "alive\n", 6) == 6 ? 0 : 1);
  }
  close(answer[1]);
  int status = status_of(child);
  char text[16] = "";
  ssize_t got = read(answer[0], text, sizeof(text) - 1);
  printf("%d %zd %s", status, got, text);
  return 0;
}

int fork_and_close_late(void) {
  pid_t child = fork();
  if (child == 0) {
    usleep(1500000);
    emit(10);
    close_range(3, ~0U, 0);
    emit(10);
    usleep(100000);
    exit(7);
  }
  printf("%d\n", status_of(child));
  return 0;
}

static volatile int going = 1;

static void* open_and_close(void* unused) {
  while (going) {
    close(dup(0));
    free(malloc(100));
    emit(1);
    usleep(100);
  }
  return unused;
}

int fork_of_many_threads(void) {
  enum { THREADS = 4, CHILDREN = 40 };
  pthread_t threads[THREADS];
  int well = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_create(&threads[i], NULL, open_and_close, NULL);
  }
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int fd = 3; fd < 64; fd++) {
        close(fd);
      }
      execl("/bin/true", "true", NULL);
      _exit(1);
    }
    well += status_of(child) == 0;
  }
  going = 0;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
  printf("%d\n", well);
  return 0;
}

// The child's events are asked for, from its first on.
int fork_and_emit(void) {
  pid_t child = fork();
  if (child == 0) {
    emit(1000);
    exit(3);
  }
  printf("%d\n", status_of(child));
  return 0;
}

int clone_child(void) {
  long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) {
    for (int fd = 3; fd < 4096; fd++) {
      close(fd);
    }
    usleep(200000);
    _exit(5);
  }
  printf("%d\n", status_of((pid_t)child));
  return 0;
}

int vfork_exec(void) {
  pid_t child = vfork();
  if (child == 0) {
    close(3);
    execl("/bin/echo", "echo", "executed", NULL);
    _exit(1);
  }
  int status = status_of(child);
  emit(10);
  printf("%d\n", status);
  return 0;
}

// Only a process of one thread may.
int new_user_namespace(void) {
  int result = unshare(CLONE_NEWUSER);
  printf("%d %s\n", result, result != 0 ? strerror(errno) : "");
  return 0;
}

int change_root(void) {
  if (chroot("/usr") != 0 || chdir("/") != 0) {
    printf("%s\n", strerror(errno));
    return 0;
  }
  emit(1000);
  printf("%d\n", access("/bin/sh", X_OK));
  return 0;
}

int change_user(void) {
  int result = setgid(65534) + setuid(65534);
  emit(1000);
  printf("%d %d\n", result, (int)getuid());
  return 0;
}

int small_address_space(void) {
  struct rlimit limit = {512 << 20, 512 << 20};
  setrlimit(RLIMIT_AS, &limit);
  emit(1000);
  void* space = malloc(200 << 20);
  printf("%d\n", space != NULL);
  return 0;
}

int count_threads(void) {
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
    if (strncmp(line, "Threads:", 8) == 0) {
      fputs(line, stdout);
    }
  }
  return 0;
}

// Every signal is for sigwait alone; others that get them would end the program.
int wait_for_all_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  emit(1000);
  for (int number = 1; number <= SIGRTMAX; number++) {
    if (number == SIGKILL || number == SIGSTOP || (number > SIGSYS && number < SIGRTMIN)) {
      continue;
    }
    int got = 0;
    kill(getpid(), number);
    sigwait(&all, &got);
    if (got != number) {
      printf("%d for %d\n", got, number);
    }
  }
  return 0;
}

static volatile sig_atomic_t counted;

static void count(int number) {
  (void)number;
  counted++;
  close(3);
}

int count_signals(void) {
  int used[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN, SIGRTMIN + 1, SIGRTMAX};
  for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
    signal(used[i], count);
    for (int times = 0; times < 100; times++) {
      emit(1);
      raise(used[i]);
    }
  }
  printf("%d\n", (int)counted);
  return 0;
}

static void* use_memory(void* sum) {
  for (int i = 0; i < 1000; i++) {
    char* memory = malloc(1000);
    memset(memory, i, 1000);
    *(long*)sum += (unsigned char)memory[i];
    free(memory);
  }
  return NULL;
}

// Threads, memory and a file, for programs that are built or run in an odd way.
int work(void) {
  pthread_t threads[4];
  long sums[4] = {0}, sum = 0;
  for (int i = 0; i < 4; i++) {
    pthread_create(&threads[i], NULL, use_memory, &sums[i]);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    sum += sums[i];
  }
  FILE* file = tmpfile();
  fprintf(file, "%ld", sum);
  printf("%ld %ld\n", sum, ftell(file));
  fclose(file);
  return 0;
}

// What AddressSanitizer finds, and ends with its own status.
int overflow(void) {
  volatile char* memory = malloc(8);
  volatile int beyond = 8;
  memory[beyond] = 1;
  return 0;
}

int own_status(void) { return 42; }
