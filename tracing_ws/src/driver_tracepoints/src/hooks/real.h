// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of the C library that are hooked. Looked up before any other code runs, as they may
// be called from a signal handler.
#ifndef DRIVER_TRACEPOINTS_HOOKS_REAL_H
#define DRIVER_TRACEPOINTS_HOOKS_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

extern ssize_t (*real_read)(int, void*, size_t);
extern ssize_t (*real_recv)(int, void*, size_t, int);
extern ssize_t (*real_recvfrom)(int, void*, size_t, int, struct sockaddr*, socklen_t*);
extern int (*real_recvmmsg)(int, struct mmsghdr*, unsigned int, int, struct timespec*);
extern int (*real_bind)(int, const struct sockaddr*, socklen_t);
extern int (*real_setsockopt)(int, int, int, const void*, socklen_t);
extern int (*real_getsockopt)(int, int, int, void*, socklen_t*);
extern ssize_t (*real_read_chk)(int, void*, size_t, size_t);
extern ssize_t (*real_recv_chk)(int, void*, size_t, size_t, int);
extern ssize_t (*real_recvfrom_chk)(int, void*, size_t, size_t, int, struct sockaddr*, socklen_t*);
extern ssize_t (*real_recvmsg)(int, struct msghdr*, int);

// False where a call would answer EFAULT. Asks the system: a bad pointer is the caller's to hear
// of.
bool is_readable(const void* data, size_t size);

// To be called by the constructor of the hooks.
void find_real_functions(void);

#endif
