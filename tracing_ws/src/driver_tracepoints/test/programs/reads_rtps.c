// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Built as libddsc.so.0.10.5: to the DDS hooks a call from here is Cyclone DDS'.
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t read_one(int fd, void* data, size_t size);

ssize_t read_one(int fd, void* data, size_t size) {
  struct iovec part = {data, size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t got = recvmsg(fd, &message, 0);
  return got + 0 * message.msg_flags;
}
