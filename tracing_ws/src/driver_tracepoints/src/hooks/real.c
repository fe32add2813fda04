// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Other libraries' constructors may come before ours: until then the system is called without the C
// library.
static ssize_t sys_read(int fd, void* data, size_t size) {
  return syscall(SYS_read, fd, data, size);
}
static ssize_t sys_recv(int fd, void* data, size_t size, int flags) {
  return syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
}
static ssize_t sys_recvfrom(int fd, void* data, size_t size, int flags, struct sockaddr* from,
                            socklen_t* length) {
  return syscall(SYS_recvfrom, fd, data, size, flags, from, length);
}
static ssize_t sys_recvmsg(int fd, struct msghdr* message, int flags) {
  return syscall(SYS_recvmsg, fd, message, flags);
}
static int sys_recvmmsg(int fd, struct mmsghdr* messages, unsigned int count, int flags,
                        struct timespec* timeout) {
  return (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}
static int sys_bind(int fd, const struct sockaddr* address, socklen_t length) {
  return (int)syscall(SYS_bind, fd, address, length);
}
static int sys_setsockopt(int fd, int level, int option, const void* value, socklen_t length) {
  return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
}
static int sys_getsockopt(int fd, int level, int option, void* value, socklen_t* length) {
  return (int)syscall(SYS_getsockopt, fd, level, option, value, length);
}

ssize_t (*real_read)(int, void*, size_t) = sys_read;
ssize_t (*real_recv)(int, void*, size_t, int) = sys_recv;
ssize_t (*real_recvfrom)(int, void*, size_t, int, struct sockaddr*, socklen_t*) = sys_recvfrom;
ssize_t (*real_recvmsg)(int, struct msghdr*, int) = sys_recvmsg;
int (*real_recvmmsg)(int, struct mmsghdr*, unsigned int, int, struct timespec*) = sys_recvmmsg;
int (*real_bind)(int, const struct sockaddr*, socklen_t) = sys_bind;
int (*real_setsockopt)(int, int, int, const void*, socklen_t) = sys_setsockopt;
int (*real_getsockopt)(int, int, int, void*, socklen_t*) = sys_getsockopt;
// These end the program when the length is larger than the buffer: they have no stand-in.
ssize_t (*real_read_chk)(int, void*, size_t, size_t);
ssize_t (*real_recv_chk)(int, void*, size_t, size_t, int);
ssize_t (*real_recvfrom_chk)(int, void*, size_t, size_t, int, struct sockaddr*, socklen_t*);

static void next(void* function, const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != NULL) {
    memcpy(function, &found, sizeof(found));
  }
}

// The kernel reads a signal set (null: none is given) before it refuses what to do with it.
static bool is_word_readable(const char* word) {
  return word != NULL &&
         (syscall(SYS_rt_sigprocmask, -1, word, NULL, sizeof(uint64_t)) == 0 || errno != EFAULT);
}

bool is_readable(const void* data, size_t size) {
  enum { PAGE = 4096 };
  int saved_errno = errno;
  const char *at = data, *last = at + size - 1;
  // Each page once, by the word that the first and the last byte are in: words lie within a page.
  const uintptr_t word = ~(uintptr_t)7;
  bool readable = size == 0 || is_word_readable((const char*)((uintptr_t)last & word));
  for (; readable && at < last; at += PAGE) {
    readable = is_word_readable((const char*)((uintptr_t)at & word));
  }
  errno = saved_errno;
  return readable;
}

void find_real_functions(void) {
  next(&real_read, "read");
  next(&real_recv, "recv");
  next(&real_recvfrom, "recvfrom");
  next(&real_recvmsg, "recvmsg");
  next(&real_recvmmsg, "recvmmsg");
  next(&real_bind, "bind");
  next(&real_setsockopt, "setsockopt");
  next(&real_getsockopt, "getsockopt");
  next(&real_read_chk, "__read_chk");
  next(&real_recv_chk, "__recv_chk");
  next(&real_recvfrom_chk, "__recvfrom_chk");
}
