// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Forks of a process that LTTng-UST is loaded into. It has to start again in the child: its threads
// are not there, and what it knows of the process is its parent's. It then waits for the session
// daemon. Most children only execute another program, so its threads, and the wait, come later:
// with the first event of ours, or after a while, for the events of others.
#include "fork.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "own.h"

// What a child needs to execute a program, on a busy machine too.
#define WAIT_S 1
// How long LTTng-UST itself waits for the session daemon at most.
#define REGISTER_S 3

typedef void* (*start_function)(void*);

struct begin {
  start_function function;
  void* argument;
};

static int (*real_pthread_create)(pthread_t*, const pthread_attr_t*, start_function, void*);
static int (*real_sem_wait)(sem_t*);
static int (*real_sem_timedwait)(sem_t*, const struct timespec*);
// The process that executed the program; any other one that runs this is a forked child.
static pid_t executed;
// LTTng-UST waits for its threads next, on this thread.
static __thread bool started;

static void next(void* function, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof(found));
}

__attribute__((constructor)) static void look_up(void) {
  next(&real_pthread_create, "pthread_create");
  next(&real_sem_wait, "sem_wait");
  next(&real_sem_timedwait, "sem_timedwait");
  executed = getpid();
}

// --- fork() --------------------------------------------------------------------------------------

static void (*before_fork)(sigset_t*);
static void (*after_fork_parent)(sigset_t*);
static void (*after_fork_child)(sigset_t*);
// Of the thread that forks.
static __thread sigset_t mask;

static void prepare(void) { before_fork(&mask); }
static void in_parent(void) { after_fork_parent(&mask); }
static void in_child(void) { after_fork_child(&mask); }

void heed_forks(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  void* ust = dlopen("liblttng-ust.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (ust == NULL || dlopen("liblttng-ust-fork.so.1", RTLD_LAZY | RTLD_NOLOAD) != NULL) {
    return;
  }
  before_fork = (void (*)(sigset_t*))dlsym(ust, "lttng_ust_before_fork");
  after_fork_parent = (void (*)(sigset_t*))dlsym(ust, "lttng_ust_after_fork_parent");
  after_fork_child = (void (*)(sigset_t*))dlsym(ust, "lttng_ust_after_fork_child");
  if (before_fork != NULL && after_fork_parent != NULL && after_fork_child != NULL &&
      !atomic_flag_test_and_set(&done)) {
    pthread_atfork(prepare, in_parent, in_child);
  }
}

// --- LTTng-UST's threads -------------------------------------------------------------------------

// True while the threads of a child wait.
static _Atomic int held;
// What LTTng-UST would have waited for.
static sem_t* _Atomic registered;

static void* wait_and_begin(void* argument) {
  struct begin begin = *(struct begin*)argument;
  free(argument);
  struct timespec left = {WAIT_S, 0};
  long result;
  do {
    // A signal begins the whole wait again.
    result = syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 1, &left, NULL, 0);
  } while (result != 0 && errno == EINTR);
  return begin.function(begin.argument);
}

EXPORT void strata_ust_guard_begin(void) {
  if (!atomic_exchange(&held, 0)) {
    return;
  }
  int saved_errno = errno;
  syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  sem_t* semaphore = atomic_load(&registered);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += REGISTER_S;
  while (semaphore != NULL && real_sem_timedwait(semaphore, &until) != 0 && errno == EINTR) {
  }
  errno = saved_errno;
}

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                          start_function function, void* argument) {
  // Another library's constructor may come before ours.
  if (real_pthread_create == NULL) {
    look_up();
  }
  if (getpid() == executed || !is_ust(__builtin_return_address(0))) {
    return real_pthread_create(thread, attributes, function, argument);
  }
  struct begin* begin = malloc(sizeof(*begin));
  if (begin == NULL) {
    return real_pthread_create(thread, attributes, function, argument);
  }
  *begin = (struct begin){function, argument};
  atomic_store(&held, 1);
  int error = real_pthread_create(thread, attributes, wait_and_begin, begin);
  if (error != 0) {
    free(begin);
  }
  started = error == 0;
  return error;
}

// True for the wait of LTTng-UST's that would last as long as its threads'.
static inline bool is_for_waiting(sem_t* semaphore, const void* caller) {
  if (__builtin_expect(!started, 1)) {
    return false;
  }
  started = false;
  if (!is_ust(caller)) {
    return false;
  }
  atomic_store(&registered, semaphore);
  return true;
}

EXPORT int sem_wait(sem_t* semaphore) {
  if (is_for_waiting(semaphore, __builtin_return_address(0))) {
    return 0;
  }
  if (real_sem_wait == NULL) {
    look_up();
  }
  return real_sem_wait(semaphore);
}

EXPORT int sem_timedwait(sem_t* semaphore, const struct timespec* until) {
  if (is_for_waiting(semaphore, __builtin_return_address(0))) {
    return 0;
  }
  if (real_sem_timedwait == NULL) {
    look_up();
  }
  return real_sem_timedwait(semaphore, until);
}
