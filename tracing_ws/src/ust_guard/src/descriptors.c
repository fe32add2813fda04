// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// LTTng-UST's descriptors in a process are told by the functions with which it tells its own
// library of them: these come before those. They are moved to numbers that programs do not use, and
// closed by LTTng-UST alone.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fork.h"
#include "own.h"

// As high as select() could use them, so that the kernel's table of a process stays small.
#define MOST_MOVED 1024
// What is left to the program at least, of its limit.
#define SPARED_OF(limit) ((limit) - (limit) / 4)

static int sys_close(int fd) { return (int)syscall(SYS_close, fd); }
static int sys_close_range(unsigned first, unsigned last, int flags) {
  return (int)syscall(SYS_close_range, first, last, flags);
}
static int sys_dup3(int from, int to, int flags) { return (int)syscall(SYS_dup3, from, to, flags); }
static int sys_dup2(int from, int to) {
  // dup3 refuses what dup2 answers with the descriptor itself.
  return from == to && fcntl(from, F_GETFD) >= 0 ? to : sys_dup3(from, to, 0);
}
static int sys_pipe2(int pair[2], int flags) { return (int)syscall(SYS_pipe2, pair, flags); }

// Other libraries' constructors may come before ours: until then the system is called without the C
// library.
static int (*real_close)(int) = sys_close;
static int (*real_close_range)(unsigned, unsigned, int) = sys_close_range;
static int (*real_dup2)(int, int) = sys_dup2;
static int (*real_dup3)(int, int, int) = sys_dup3;
static int (*real_pipe2)(int*, int) = sys_pipe2;

static void next(void* function, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != NULL) {
    memcpy(function, &found, sizeof(found));
  }
}

__attribute__((constructor)) static void look_up(void) {
  next(&real_close, "close");
  next(&real_close_range, "close_range");
  next(&real_dup2, "dup2");
  next(&real_dup3, "dup3");
  next(&real_pipe2, "pipe2");
}

// --- what LTTng-UST tells ------------------------------------------------------------------------

static _Atomic(int (*)(int)) real_add;
static _Atomic(void (*)(int)) real_delete;
static _Atomic(void (*)(void)) real_lock;

// By its name: a library that was opened for one caller alone is not behind RTLD_NEXT. First on the
// thread that starts LTTng-UST, which holds the loader's lock: its own threads would wait for that.
static void look_up_ust(void) {
  void* common = dlopen("liblttng-ust-common.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (common != NULL) {
    atomic_store(&real_add, (int (*)(int))dlsym(common, "lttng_ust_add_fd_to_tracker"));
    atomic_store(&real_delete, (void (*)(int))dlsym(common, "lttng_ust_delete_fd_from_tracker"));
    atomic_store(&real_lock, (void (*)(void))dlsym(common, "lttng_ust_lock_fd_tracker"));
    heed_forks();
  }
}

EXPORT void lttng_ust_lock_fd_tracker(void) {
  if (atomic_load(&real_lock) == NULL) {
    look_up_ust();
  }
  void (*lock)(void) = atomic_load(&real_lock);
  if (lock != NULL) {
    lock();
  }
}

// Gives a descriptor a number that the program does not use; the old one stays open. Returns the
// old one where no other is to be had.
static int move(int fd) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return fd;
  }
  int most = limit.rlim_cur < MOST_MOVED ? (int)limit.rlim_cur : MOST_MOVED;
  int moved = fd < SPARED_OF(most) ? fcntl(fd, F_DUPFD_CLOEXEC, SPARED_OF(most)) : fd;
  if (moved < 0 || moved >= MOST_DESCRIPTORS) {
    if (moved >= 0) {
      real_close(moved);
    }
    return fd;
  }
  return moved;
}

EXPORT int lttng_ust_add_fd_to_tracker(int fd) {
  int (*add)(int) = atomic_load(&real_add);
  if (add == NULL) {
    return -1;
  }
  int moved = move(fd), added = add(moved);
  own(added);
  if (moved != fd) {
    // Its callers close what they gave if it was not taken.
    real_close(added >= 0 ? fd : moved);
  }
  return added;
}

EXPORT void lttng_ust_delete_fd_from_tracker(int fd) {
  void (*forget)(int) = atomic_load(&real_delete);
  disown(fd);
  if (forget != NULL) {
    forget(fd);
  }
}

// Pipes of its own it tells nobody of.
EXPORT int pipe2(int pair[2], int flags) {
  int result = real_pipe2(pair, flags);
  if (result == 0 && is_ust(__builtin_return_address(0))) {
    for (int i = 0; i < 2; i++) {
      int moved = move(pair[i]);
      if (moved != pair[i]) {
        real_close(pair[i]);
        pair[i] = moved;
      }
      own(pair[i]);
    }
  }
  return result;
}

// --- what programs do ----------------------------------------------------------------------------

// LTTng-UST ends the process when it cannot close what is its own: a program that has closed it by
// a system call of its own shall live.
static int close_for_ust(int fd) {
  disown(fd);
  int saved_errno = errno;
  if (real_close(fd) != 0) {
    errno = saved_errno;
  }
  return 0;
}

EXPORT int close(int fd) {
  if (__builtin_expect(!is_owned(fd), 1)) {
    return real_close(fd);
  }
  if (is_ust(__builtin_return_address(0))) {
    return close_for_ust(fd);
  }
  errno = EBADF;
  return -1;
}

// Closes a range but for what is LTTng-UST's; on an error the rest stays.
static int close_between(unsigned first, unsigned last, int flags) {
  unsigned from = first;
  for (unsigned kept = next_owned(from); kept < MOST_DESCRIPTORS && kept <= last;
       kept = next_owned(from)) {
    if (kept > from) {
      int result = real_close_range(from, kept - 1, flags);
      if (result != 0) {
        return result;
      }
    }
    from = kept + 1;
  }
  return from <= last ? real_close_range(from, last, flags) : 0;
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
  if (first > last || next_owned(first) > last) {
    return real_close_range(first, last, flags);
  }
  return close_between(first, last, flags);
}

EXPORT void closefrom(int first) {
  int saved_errno = errno;
  unsigned from = first > 0 ? (unsigned)first : 0;
  if (close_between(from, UINT_MAX, 0) != 0) {
    // A kernel before 5.9.
    long most = sysconf(_SC_OPEN_MAX);
    for (long fd = from; fd < most; fd++) {
      if (!is_owned((int)fd)) {
        real_close((int)fd);
      }
    }
  }
  errno = saved_errno;
}

// As for a number beyond the limit: these are for nobody else.
EXPORT int dup2(int from, int to) {
  if (is_owned(to) && !is_ust(__builtin_return_address(0))) {
    errno = EBADF;
    return -1;
  }
  return real_dup2(from, to);
}

EXPORT int dup3(int from, int to, int flags) {
  if (is_owned(to) && !is_ust(__builtin_return_address(0))) {
    errno = EBADF;
    return -1;
  }
  return real_dup3(from, to, flags);
}
