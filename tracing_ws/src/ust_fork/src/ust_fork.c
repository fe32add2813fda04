// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded beside liblttng-ust-fork, which has LTTng-UST start again in the child of a fork. Its
// threads open files there at once. Most children close every file that they do not know, and
// execute another program; LTTng-UST then ends them by a failed assertion, as its files are gone.
// So its threads wait in such a child until it should have got so far.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
// What a child needs to execute a program, on a busy machine too.
#define WAIT_S 1

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

static bool is_ust(const void* caller) {
  Dl_info found;
  return dladdr(caller, &found) != 0 && found.dli_fname != NULL &&
         strstr(found.dli_fname, "/liblttng-ust.so") != NULL;
}

static void* wait_and_begin(void* argument) {
  struct begin begin = *(struct begin*)argument;
  free(argument);
  struct timespec left = {WAIT_S, 0};
  nanosleep(&left, NULL);
  return begin.function(begin.argument);
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
  int error = real_pthread_create(thread, attributes, wait_and_begin, begin);
  if (error != 0) {
    free(begin);
  }
  started = error == 0;
  return error;
}

// True for the wait of LTTng-UST's that would last as long as its threads'.
static inline bool is_for_waiting(const void* caller) {
  if (__builtin_expect(!started, 1)) {
    return false;
  }
  started = false;
  return is_ust(caller);
}

EXPORT int sem_wait(sem_t* semaphore) {
  if (is_for_waiting(__builtin_return_address(0))) {
    return 0;
  }
  if (real_sem_wait == NULL) {
    look_up();
  }
  return real_sem_wait(semaphore);
}

EXPORT int sem_timedwait(sem_t* semaphore, const struct timespec* until) {
  if (is_for_waiting(__builtin_return_address(0))) {
    return 0;
  }
  if (real_sem_timedwait == NULL) {
    look_up();
  }
  return real_sem_timedwait(semaphore, until);
}
