// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "sockets.h"

#include <asm/socket.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "export.h"
#include "sources.h"

// A power of two. Sockets are never forgotten, as nothing tells of the last descriptor's end.
#define SOCKETS 1024
// The kernel turns its stamps on some time after it is asked to (by a work queue), when no other
// socket has them on: until then it stamps a datagram when it is read.
#define TURNED_ON_NS 100000000LL

static struct traced sockets[SOCKETS];

static int64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Not through the C library's names: they are hooked.
static int get_option(int fd, int option, void* value, socklen_t length) {
  return (int)syscall(SYS_getsockopt, fd, SOL_SOCKET, option, value, &length);
}

static bool turn_on(int fd, int option) {
  int on = 1;
  return syscall(SYS_setsockopt, fd, SOL_SOCKET, option, &on, sizeof(on)) == 0;
}

static bool is_on(int fd, int option) {
  int value = 0;
  return get_option(fd, option, &value, sizeof(value)) == 0 && value != 0;
}

// Looks a socket up; `add`: puts it into the table.
static struct traced* look_up(int fd, bool add) {
  int saved_errno = errno;
  uint64_t cookie = 0;
  struct traced* found = NULL;
  if (get_option(fd, SO_COOKIE, &cookie, sizeof(cookie)) == 0 && cookie != 0) {
    for (uint64_t i = 0; i < SOCKETS && found == NULL; i++) {
      struct traced* at = &sockets[(cookie + i) % SOCKETS];
      uint64_t there = atomic_load_explicit(&at->cookie, memory_order_acquire);
      if (there == 0 && !add) {
        break;
      }
      // A failed exchange says who came first: perhaps another thread with this socket.
      if (there == cookie ||
          (there == 0 &&
           (atomic_compare_exchange_strong(&at->cookie, &there, cookie) || there == cookie))) {
        found = at;
      }
    }
  }
  errno = saved_errno;
  return found;
}

EXPORT struct traced* strata_driver_hook_find(int fd) { return look_up(fd, false); }

EXPORT struct traced* strata_driver_hook_know(int fd) { return look_up(fd, true); }

static uint32_t dropped_so_far(int fd) {
  uint32_t values[SK_MEMINFO_VARS] = {0};
  get_option(fd, SO_MEMINFO, values, sizeof(values));
  return values[SK_MEMINFO_DROPS];
}

static bool stamps_are_on(int fd) {
  static const int options[] = {SO_TIMESTAMP_OLD, SO_TIMESTAMPNS_OLD, SO_TIMESTAMP_NEW,
                                SO_TIMESTAMPNS_NEW, SO_TIMESTAMPING_OLD};
  for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
    if (is_on(fd, options[i])) {
      return true;
    }
  }
  return false;
}

EXPORT void strata_driver_hook_prepare(struct traced* socket, int fd, bool hide) {
  int saved_errno = errno;
  if (!atomic_exchange(&socket->prepared, true)) {
    bool stamps = stamps_are_on(fd), drops = is_on(fd, SO_RXQ_OVFL);
    // Hidden before it is there, for threads that read meanwhile.
    if (hide) {
      atomic_store(&socket->hidden, (stamps ? 0 : HIDDEN_STAMPS) | (drops ? 0 : HIDDEN_DROPS));
    }
    atomic_store(&socket->before, dropped_so_far(fd));
    if (!stamps) {
      turn_on(fd, SO_TIMESTAMPNS_OLD);
    }
    if (!drops) {
      turn_on(fd, SO_RXQ_OVFL);
    }
    atomic_store(&socket->since_ns, now_ns(CLOCK_MONOTONIC));
  }
  errno = saved_errno;
}

static bool is_empty(int fd) {
  struct pollfd waiting = {fd, POLLIN, 0};
  struct timespec at_once = {0, 0};
  return syscall(SYS_ppoll, &waiting, 1, &at_once, NULL, 0) == 0;
}

EXPORT int64_t strata_driver_hook_before(struct traced* socket, int fd) {
  if (!atomic_load_explicit(&socket->settled, memory_order_relaxed)) {
    int saved_errno = errno;
    int64_t since = atomic_load(&socket->since_ns);
    // What comes from here on is stamped as it comes.
    if (since != 0 && now_ns(CLOCK_MONOTONIC) - since > TURNED_ON_NS && is_empty(fd)) {
      atomic_store(&socket->settled, true);
    }
    errno = saved_errno;
  }
  return now_ns(CLOCK_REALTIME);
}

EXPORT void strata_driver_hook_after(struct traced* socket, uint64_t source, size_t bytes,
                                     struct told told, int64_t before_ns,
                                     struct strata_driver_packet* packet) {
  packet->sequence = atomic_fetch_add(&socket->sequence, 1);
  uint32_t before = atomic_load_explicit(&socket->before, memory_order_relaxed);
  // Nothing is told of a datagram that came earlier than the request.
  packet->dropped = told.dropped > before ? told.dropped - before : 0;
  packet->queue_ns = -1;
  if (told.stamp_ns >= 0 && told.stamp_ns < before_ns) {
    // A stamp older than the call was not made by it: the kernel stamps what comes.
    atomic_store_explicit(&socket->settled, true, memory_order_relaxed);
  }
  if (told.stamp_ns >= 0 && atomic_load_explicit(&socket->settled, memory_order_relaxed)) {
    int64_t lay = now_ns(CLOCK_REALTIME) - told.stamp_ns;
    // Negative: the clock was set back meanwhile.
    packet->queue_ns = lay >= 0 ? lay : -1;
  }
  if (source != 0) {
    strata_driver_packet_received(source, packet->sequence, (uint32_t)bytes, packet->queue_ns,
                                  packet->dropped);
  }
}

EXPORT int strata_driver_prepare(int fd) {
  strata_driver_hook_begin();
  struct traced* socket = strata_driver_hook_know(fd);
  if (socket == NULL) {
    int type;
    // errno of what kept it from being known; a full table is no error of the descriptor.
    if (get_option(fd, SO_TYPE, &type, sizeof(type)) == 0) {
      errno = ENOBUFS;
    }
    return -1;
  }
  strata_driver_hook_prepare(socket, fd, false);
  // The driver reads by itself, and what it then finds it has asked for.
  atomic_store(&socket->hidden, 0);
  return 0;
}

EXPORT ssize_t strata_driver_receive(uint64_t source, int fd, void* buffer, size_t size, int flags,
                                     struct strata_driver_packet* packet) {
  struct traced* socket = strata_driver_hook_find(fd);
  if (socket == NULL || !atomic_load_explicit(&socket->prepared, memory_order_relaxed)) {
    if (strata_driver_prepare(fd) != 0 && errno != ENOBUFS) {
      return -1;
    }
    socket = strata_driver_hook_find(fd);
  }
  struct iovec part = {buffer, size};
  char control[CONTROL_OWN + 64] __attribute__((aligned(8)));
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  int64_t before_ns = socket != NULL ? strata_driver_hook_before(socket, fd) : 0;
  ssize_t got = syscall(SYS_recvmsg, fd, &message, flags);
  if (got < 0) {
    return got;
  }
  *packet = (struct strata_driver_packet){0, -1, 0};
  struct told told = take_control(&message, 0, NULL);
  bool is_datagram = got > 0 || told.stamp_ns >= 0;
  if (socket != NULL && is_datagram && (flags & (MSG_PEEK | MSG_ERRQUEUE)) == 0) {
    strata_driver_hook_after(socket, source, (size_t)got, told, before_ns, packet);
  }
  return got;
}
