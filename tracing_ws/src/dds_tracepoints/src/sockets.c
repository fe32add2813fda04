// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the C library's socket calls, for DDS libraries alone: everybody else's calls go through
// untouched. The real functions are looked up before any other code runs, as these may be called
// from a signal handler.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "begin.h"
#include "callers.h"
#include "cyclonedds/cyclonedds.h"
#include "emit.h"

static ssize_t (*real_sendmsg)(int, const struct msghdr*, int);
static ssize_t (*real_sendto)(int, const void*, size_t, int, const struct sockaddr*, socklen_t);
static ssize_t (*real_send)(int, const void*, size_t, int);
static ssize_t (*real_recvmsg)(int, struct msghdr*, int);

__attribute__((constructor)) static void look_up(void) {
  *(void**)&real_sendmsg = dlsym(RTLD_NEXT, "sendmsg");
  *(void**)&real_sendto = dlsym(RTLD_NEXT, "sendto");
  *(void**)&real_send = dlsym(RTLD_NEXT, "send");
  *(void**)&real_recvmsg = dlsym(RTLD_NEXT, "recvmsg");
}

// Other libraries' constructors may come before ours: then the system is called without the C
// library, where nothing of DDS is at work yet.
static ssize_t call_sendmsg(int fd, const struct msghdr* message, int flags) {
  return real_sendmsg != NULL ? real_sendmsg(fd, message, flags)
                              : syscall(SYS_sendmsg, fd, message, flags);
}

static ssize_t call_sendto(int fd, const void* data, size_t length, int flags,
                           const struct sockaddr* to, socklen_t to_length) {
  return real_sendto != NULL ? real_sendto(fd, data, length, flags, to, to_length)
                             : syscall(SYS_sendto, fd, data, length, flags, to, to_length);
}

static ssize_t call_send(int fd, const void* data, size_t length, int flags) {
  return real_send != NULL ? real_send(fd, data, length, flags)
                           : syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
}

static ssize_t call_recvmsg(int fd, struct msghdr* message, int flags) {
  return real_recvmsg != NULL ? real_recvmsg(fd, message, flags)
                              : syscall(SYS_recvmsg, fd, message, flags);
}

static bool is_dds(const void* return_address) {
  enum caller caller = caller_at(return_address);
  return caller == CALLER_FASTDDS || caller == CALLER_CYCLONEDDS;
}

static bool wanted(const void* caller) {
  if (!has_begun() && is_dds(caller)) {
    begin_now();
  }
  return is_send_wanted();
}

// An address as RTPS writes it: 16 bytes, IPv4 in the last four.
static int32_t read_address(const struct sockaddr* address, socklen_t length, bool tcp,
                            struct destination* to) {
  if (length >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET) {
    const struct sockaddr_in* in = (const struct sockaddr_in*)address;
    memcpy(to->address + 12, &in->sin_addr, 4);
    to->address_length = 4;
    to->port = ntohs(in->sin_port);
    return tcp ? TRANSPORT_TCPV4 : TRANSPORT_UDPV4;
  }
  if (length >= sizeof(struct sockaddr_in6) && address->sa_family == AF_INET6) {
    const struct sockaddr_in6* in6 = (const struct sockaddr_in6*)address;
    memcpy(to->address, &in6->sin6_addr, 16);
    to->address_length = 16;
    to->port = ntohs(in6->sin6_port);
    return tcp ? TRANSPORT_TCPV6 : TRANSPORT_UDPV6;
  }
  return TRANSPORT_UNKNOWN;
}

// Where a socket's data goes; asked of the socket itself when the call does not say.
static int32_t destination_of(int fd, const struct sockaddr* given, socklen_t given_length,
                              struct destination* to) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof(peer);
  to->count = 1;
  if (given != NULL) {
    return read_address(given, given_length, false, to);
  }
  int saved_errno = errno, type = 0;
  socklen_t type_length = sizeof(type);
  int32_t transport = TRANSPORT_UNKNOWN;
  if (getpeername(fd, (struct sockaddr*)&peer, &length) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) == 0) {
    transport = read_address((const struct sockaddr*)&peer, length, type == SOCK_STREAM, to);
  }
  errno = saved_errno;
  return transport;
}

static void socket_send_ends(struct entered* send, const struct destination* to, ssize_t sent) {
  send_ends(send, to, sent < 0 ? -errno : (int32_t)sent);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  struct destination to = {0};
  if (!wanted(__builtin_return_address(0)) || message == NULL || message->msg_iov == NULL ||
      !is_dds(__builtin_return_address(0))) {
    return call_sendmsg(fd, message, flags);
  }
  int32_t transport = destination_of(fd, message->msg_name, message->msg_namelen, &to);
  ENTERED(sending);
  send_begins(&sending, transport, message->msg_iov, message->msg_iovlen);
  ssize_t sent = call_sendmsg(fd, message, flags);
  socket_send_ends(&sending, &to, sent);
  return sent;
}

EXPORT ssize_t sendto(int fd, const void* data, size_t length, int flags, const struct sockaddr* to,
                      socklen_t to_length) {
  struct destination where = {0};
  if (!wanted(__builtin_return_address(0)) || !is_dds(__builtin_return_address(0))) {
    return call_sendto(fd, data, length, flags, to, to_length);
  }
  int32_t transport = destination_of(fd, to, to_length, &where);
  struct iovec part = {(void*)data, length};
  ENTERED(sending);
  send_begins(&sending, transport, &part, 1);
  ssize_t sent = call_sendto(fd, data, length, flags, to, to_length);
  socket_send_ends(&sending, &where, sent);
  return sent;
}

EXPORT ssize_t send(int fd, const void* data, size_t length, int flags) {
  struct destination to = {0};
  if (!wanted(__builtin_return_address(0)) || !is_dds(__builtin_return_address(0))) {
    return call_send(fd, data, length, flags);
  }
  int32_t transport = destination_of(fd, NULL, 0, &to);
  struct iovec part = {(void*)data, length};
  ENTERED(sending);
  send_begins(&sending, transport, &part, 1);
  ssize_t sent = call_send(fd, data, length, flags);
  socket_send_ends(&sending, &to, sent);
  return sent;
}

// Only Cyclone DDS: what Fast DDS receives is seen at ReceiverResource, whatever carried it.
EXPORT ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  if (!has_begun() && is_dds(__builtin_return_address(0))) {
    begin_now();
  }
  ssize_t got = call_recvmsg(fd, message, flags);
  if (got <= 0 || !cyclone_receive_wanted() ||
      caller_at(__builtin_return_address(0)) != CALLER_CYCLONEDDS) {
    return got;
  }
  // What was received may be less than the buffers hold.
  struct iovec parts[8];
  size_t count = 0, left = (size_t)got;
  for (; count < message->msg_iovlen && count < 8 && left > 0; count++) {
    parts[count] = message->msg_iov[count];
    parts[count].iov_len = parts[count].iov_len < left ? parts[count].iov_len : left;
    left -= parts[count].iov_len;
  }
  const struct sockaddr* from = message->msg_name;
  bool v6 = from != NULL && message->msg_namelen > 0 && from->sa_family == AF_INET6;
  emit_receive(v6 ? TRANSPORT_UDPV6 : TRANSPORT_UDPV4, 0, parts, count, NULL);
  cyclone_received(parts, count);
  return got;
}
