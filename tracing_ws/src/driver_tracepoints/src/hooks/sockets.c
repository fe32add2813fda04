// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the C library's calls that read UDP sockets: those bound to the ports of
// DRIVER_TRACEPOINTS_UDP_PORTS. Every other call goes on by a jump, so that hooks behind these see
// the same caller.
#define _GNU_SOURCE
#include "../sockets.h"

#include <asm/socket.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../export.h"
#include "../sources.h"
#include "ports.h"
#include "real.h"

// No datagram has more control data.
#define MOST_CONTROL 16384
// Descriptors that a program may have been given at its start.
#define INHERITED 256

// True once a socket was seen that is ours; once one was given options that are hidden.
static _Atomic bool any, any_hidden;

static void begin_trace(struct traced* socket, uint16_t port, int fd) {
  if (!atomic_load_explicit(&socket->prepared, memory_order_relaxed) &&
      strata_driver_hook_wants_packets() && !strata_driver_hook_port_claimed(port)) {
    atomic_store(&any_hidden, true);
    strata_driver_hook_prepare(socket, fd, true);
  }
}

static void see_inherited(void) {
  for (int fd = 0; fd < INHERITED; fd++) {
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    uint16_t port = is_udp(fd) && getsockname(fd, (struct sockaddr*)&address, &length) == 0
                        ? our_port((const struct sockaddr*)&address, length)
                        : 0;
    struct traced* socket = port != 0 ? strata_driver_hook_know(fd) : NULL;
    if (socket != NULL) {
      strata_driver_hook_begin();
      atomic_store(&socket->port, port);
      atomic_store(&any, true);
    }
  }
}

__attribute__((constructor)) static void look_up(void) {
  int saved_errno = errno;
  find_real_functions();
  if (read_ports()) {
    see_inherited();
  }
  errno = saved_errno;
}

// The source of a socket. Threads that come at once each make one, and use the first: none waits,
// and no packet is without. What nothing is emitted for is not announced.
static uint64_t source_of(struct traced* socket, int fd) {
  uint64_t source = atomic_load_explicit(&socket->source, memory_order_acquire);
  if (source == 0) {
    char address[INET6_ADDRSTRLEN + 16];
    describe_address(fd, address, sizeof(address));
    uint64_t made = strata_driver_hook_source("udp", address);
    source = atomic_compare_exchange_strong(&socket->source, &source, made) ? made : source;
  }
  return source;
}

// What is known of a socket that we have to read with our own control buffer; else null.
static struct traced* watched(int fd) {
  struct traced* socket = strata_driver_hook_find(fd);
  if (socket == NULL) {
    return NULL;
  }
  uint16_t port = atomic_load_explicit(&socket->port, memory_order_relaxed);
  if (port != 0) {
    int saved_errno = errno;
    begin_trace(socket, port, fd);
    errno = saved_errno;
  }
  return atomic_load_explicit(&socket->prepared, memory_order_acquire) ? socket : NULL;
}

// What of a datagram that was read goes to the caller, and what to the trace.
static void received(struct traced* socket, int fd, const struct msghdr* got, size_t bytes,
                     int flags, int64_t before_ns, struct msghdr* caller) {
  int saved_errno = errno;
  struct told told = take_control(got, atomic_load(&socket->hidden), caller);
  uint16_t port = atomic_load_explicit(&socket->port, memory_order_relaxed);
  bool is_datagram = bytes > 0 || told.stamp_ns >= 0;
  if (is_datagram && port != 0 && (flags & (MSG_PEEK | MSG_ERRQUEUE)) == 0 &&
      strata_driver_hook_wants_packets() && !strata_driver_hook_port_claimed(port)) {
    struct strata_driver_packet packet;
    strata_driver_hook_after(socket, source_of(socket, fd), bytes, told, before_ns, &packet);
  }
  errno = saved_errno;
}

static size_t control_wanted(const struct msghdr* caller) {
  size_t wanted = caller->msg_control != NULL ? caller->msg_controllen : 0;
  return CMSG_ALIGN(wanted < MOST_CONTROL ? wanted : MOST_CONTROL) + CONTROL_OWN;
}

__attribute__((noinline)) static ssize_t receive(struct traced* socket, int fd,
                                                 struct msghdr* caller, int flags) {
  size_t size = control_wanted(caller);
  char control[size] __attribute__((aligned(8)));
  struct msghdr message = *caller;
  message.msg_control = control;
  message.msg_controllen = size;
  int64_t before_ns = strata_driver_hook_before(socket, fd);
  ssize_t got = real_recvmsg(fd, &message, flags);
  if (got >= 0) {
    if (caller->msg_name != NULL) {
      caller->msg_namelen = message.msg_namelen;
    }
    received(socket, fd, &message, (size_t)got, flags, before_ns, caller);
  }
  return got;
}

// A call without control data, as a recvmsg.
static ssize_t receive_plain(struct traced* socket, int fd, void* data, size_t size, int flags,
                             struct sockaddr* from, socklen_t* length) {
  struct iovec part = {data, size};
  struct msghdr message = {.msg_name = from,
                           .msg_namelen = from != NULL ? *length : 0,
                           .msg_iov = &part,
                           .msg_iovlen = 1};
  ssize_t got = receive(socket, fd, &message, flags);
  if (got >= 0 && from != NULL) {
    *length = message.msg_namelen;
  }
  return got;
}

// A length that recvmsg refuses and the others do not.
static bool is_odd(size_t size) { return size > SSIZE_MAX; }

// True when a call may concern us: what was hidden stays so when the session ends.
static inline bool concerned(void) {
  return __builtin_expect(atomic_load_explicit(&any, memory_order_relaxed), 0) &&
         (atomic_load_explicit(&any_hidden, memory_order_relaxed) ||
          strata_driver_hook_wants_packets());
}

// The socket of a call that reads what is ours; else null.
static struct traced* seen(int fd, size_t size) { return is_odd(size) ? NULL : watched(fd); }

// False when recvfrom fails by its length.
static bool is_address(const struct sockaddr* from, const socklen_t* length) {
  return from == NULL || (is_readable(length, sizeof(*length)) && (int)*length >= 0);
}

EXPORT ssize_t read(int fd, void* data, size_t size) {
  struct traced* socket;
  // A read of nothing takes no datagram.
  if (concerned() && size > 0 && (socket = seen(fd, size)) != NULL) {
    return receive_plain(socket, fd, data, size, 0, NULL, NULL);
  }
  return real_read(fd, data, size);
}

EXPORT ssize_t __read_chk(int fd, void* data, size_t size, size_t room) {
  struct traced* socket;
  if (concerned() && size > 0 && size <= room && (socket = seen(fd, size)) != NULL) {
    return receive_plain(socket, fd, data, size, 0, NULL, NULL);
  }
  return real_read_chk(fd, data, size, room);
}

EXPORT ssize_t recv(int fd, void* data, size_t size, int flags) {
  struct traced* socket;
  if (concerned() && (socket = seen(fd, size)) != NULL) {
    return receive_plain(socket, fd, data, size, flags, NULL, NULL);
  }
  return real_recv(fd, data, size, flags);
}

EXPORT ssize_t __recv_chk(int fd, void* data, size_t size, size_t room, int flags) {
  struct traced* socket;
  if (concerned() && size <= room && (socket = seen(fd, size)) != NULL) {
    return receive_plain(socket, fd, data, size, flags, NULL, NULL);
  }
  return real_recv_chk(fd, data, size, room, flags);
}

EXPORT ssize_t recvfrom(int fd, void* data, size_t size, int flags, struct sockaddr* from,
                        socklen_t* length) {
  struct traced* socket;
  if (concerned() && (socket = seen(fd, size)) != NULL && is_address(from, length)) {
    return receive_plain(socket, fd, data, size, flags, from, length);
  }
  return real_recvfrom(fd, data, size, flags, from, length);
}

EXPORT ssize_t __recvfrom_chk(int fd, void* data, size_t size, size_t room, int flags,
                              struct sockaddr* from, socklen_t* length) {
  struct traced* socket;
  if (concerned() && size <= room && (socket = seen(fd, size)) != NULL &&
      is_address(from, length)) {
    return receive_plain(socket, fd, data, size, flags, from, length);
  }
  return real_recvfrom_chk(fd, data, size, room, flags, from, length);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  struct traced* socket;
  if (concerned() && (socket = watched(fd)) != NULL && is_readable(message, sizeof(*message))) {
    return receive(socket, fd, message, flags);
  }
  return real_recvmsg(fd, message, flags);
}

// Reads into messages of our own: `own` has room for them and their control data.
static int receive_many(struct traced* socket, int fd, struct mmsghdr* callers, unsigned int count,
                        int flags, struct timespec* timeout, char* own) {
  struct mmsghdr* messages = (struct mmsghdr*)own;
  char* control = own + count * sizeof(*messages);
  for (unsigned int i = 0; i < count; i++) {
    messages[i] = callers[i];
    messages[i].msg_hdr.msg_control = control;
    messages[i].msg_hdr.msg_controllen = control_wanted(&callers[i].msg_hdr);
    control += messages[i].msg_hdr.msg_controllen;
  }
  int64_t before_ns = strata_driver_hook_before(socket, fd);
  int got = real_recvmmsg(fd, messages, count, flags, timeout);
  for (int i = 0; i < got; i++) {
    struct msghdr* caller = &callers[i].msg_hdr;
    callers[i].msg_len = messages[i].msg_len;
    if (caller->msg_name != NULL) {
      caller->msg_namelen = messages[i].msg_hdr.msg_namelen;
    }
    received(socket, fd, &messages[i].msg_hdr, messages[i].msg_len, flags, before_ns, caller);
  }
  return got;
}

__attribute__((noinline)) static int receive_many_small(struct traced* socket, int fd,
                                                        struct mmsghdr* callers, unsigned int count,
                                                        int flags, struct timespec* timeout,
                                                        size_t size) {
  char own[size] __attribute__((aligned(16)));
  return receive_many(socket, fd, callers, count, flags, timeout, own);
}

EXPORT int recvmmsg(int fd, struct mmsghdr* messages, unsigned int count, int flags,
                    struct timespec* timeout) {
  struct traced* socket;
  if (!concerned() || (socket = watched(fd)) == NULL ||
      !is_readable(messages, count * sizeof(*messages))) {
    return real_recvmmsg(fd, messages, count, flags, timeout);
  }
  size_t size = count * sizeof(*messages) + 16;
  for (unsigned int i = 0; i < count; i++) {
    size += control_wanted(&messages[i].msg_hdr);
  }
  if (size <= 16384) {
    return receive_many_small(socket, fd, messages, count, flags, timeout, size);
  }
  int saved_errno = errno;
  // Not from the heap: this may be a signal handler.
  void* own =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED) {
    return -1;
  }
  errno = saved_errno;
  int got = receive_many(socket, fd, messages, count, flags, timeout, own);
  saved_errno = errno;
  munmap(own, size);
  errno = saved_errno;
  return got;
}

// Before it is bound nothing can have come: from here on every datagram is stamped.
EXPORT int bind(int fd, const struct sockaddr* address, socklen_t length) {
  int saved_errno = errno;
  uint16_t port = our_port(address, length);
  struct traced* socket = port != 0 && is_udp(fd) ? strata_driver_hook_know(fd) : NULL;
  errno = saved_errno;
  if (socket == NULL) {
    return real_bind(fd, address, length);
  }
  strata_driver_hook_begin();
  begin_trace(socket, port, fd);
  errno = saved_errno;
  int result = real_bind(fd, address, length);
  if (result == 0) {
    atomic_store(&socket->port, port);
  }
  // Even of a failed call: its options are on.
  atomic_store(&any, true);
  return result;
}

static bool concerns_stamps(int option) {
  return option == SO_TIMESTAMP_OLD || option == SO_TIMESTAMP_NEW || option == SO_TIMESTAMPNS_OLD ||
         option == SO_TIMESTAMPNS_NEW || option == SO_TIMESTAMPING_OLD ||
         option == SO_TIMESTAMPING_NEW;
}

static bool concerns_us(int level, int option) {
  return level == SOL_SOCKET && (option == SO_RXQ_OVFL || concerns_stamps(option));
}

// From here on the program itself decides.
static void give_back(int fd, int option) {
  struct traced* socket = strata_driver_hook_find(fd);
  uint32_t bit = concerns_stamps(option) ? HIDDEN_STAMPS : HIDDEN_DROPS;
  if (socket == NULL || (atomic_load(&socket->hidden) & bit) == 0) {
    return;
  }
  int off = 0, ours = bit == HIDDEN_STAMPS ? SO_TIMESTAMPNS_OLD : SO_RXQ_OVFL;
  real_setsockopt(fd, SOL_SOCKET, ours, &off, sizeof(off));
  atomic_fetch_and(&socket->hidden, ~bit);
}

EXPORT int setsockopt(int fd, int level, int option, const void* value, socklen_t length) {
  if (concerned() && concerns_us(level, option)) {
    int saved_errno = errno;
    give_back(fd, option);
    errno = saved_errno;
  }
  return real_setsockopt(fd, level, option, value, length);
}

EXPORT int getsockopt(int fd, int level, int option, void* value, socklen_t* length) {
  if (!concerned() || !concerns_us(level, option)) {
    return real_getsockopt(fd, level, option, value, length);
  }
  int result = real_getsockopt(fd, level, option, value, length);
  struct traced* socket = result == 0 ? strata_driver_hook_find(fd) : NULL;
  uint32_t bit = concerns_stamps(option) ? HIDDEN_STAMPS : HIDDEN_DROPS;
  if (socket != NULL && (atomic_load(&socket->hidden) & bit) != 0) {
    memset(value, 0, *length);
  }
  return result;
}
