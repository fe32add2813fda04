// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "control.h"

#include <asm/socket.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define NS 1000000000LL

// What is left of a caller's control buffer.
struct room {
  char* next;
  size_t left;
  bool cut;
};

static bool is_stamp_of_ours(const struct cmsghdr* item) {
  return item->cmsg_type == SO_TIMESTAMPNS_OLD || item->cmsg_type == SO_TIMESTAMPNS_NEW;
}

// The kernel's 64-bit layouts are the same for old and new types on 64-bit machines.
static int64_t stamp_in(const struct cmsghdr* item) {
  int64_t parts[2];
  if (item->cmsg_len < CMSG_LEN(sizeof(parts))) {
    return -1;
  }
  memcpy(parts, CMSG_DATA(item), sizeof(parts));
  switch (item->cmsg_type) {
    case SO_TIMESTAMP_OLD:
    case SO_TIMESTAMP_NEW:
      return parts[0] * NS + parts[1] * 1000;
    case SO_TIMESTAMPING_OLD:
    case SO_TIMESTAMPING_NEW:
      // The first of three is the software's; zero: none.
      return parts[0] == 0 && parts[1] == 0 ? -1 : parts[0] * NS + parts[1];
    case SO_TIMESTAMPNS_OLD:
    case SO_TIMESTAMPNS_NEW:
      return parts[0] * NS + parts[1];
    default:
      return -1;
  }
}

// The kernel writes the signals that are blocked, of which nothing comes, or refuses to.
static bool is_word_writable(char* word) {
  return syscall(SYS_rt_sigprocmask, 0, NULL, word, sizeof(uint64_t)) == 0 || errno != EFAULT;
}

// True when a caller's buffer takes `size` bytes, at least a word; what is in it is lost.
static bool is_writable(char* data, size_t size) {
  enum { PAGE = 4096, WORD = sizeof(uint64_t) };
  int saved_errno = errno;
  char* last = data + size - WORD;
  bool writable = is_word_writable(data) && is_word_writable(last);
  for (char* at = data + PAGE; writable && at < last; at += PAGE) {
    writable = is_word_writable(at);
  }
  errno = saved_errno;
  return writable;
}

// As the kernel's put_cmsg: what does not fit is cut, and told; what the caller cannot be given is
// left out without a word.
static void hand_on(const struct cmsghdr* item, struct room* room) {
  size_t length = item->cmsg_len;
  if (room->left < sizeof(struct cmsghdr)) {
    room->cut = true;
    return;
  }
  if (room->left < length) {
    room->cut = true;
    length = room->left;
  }
  if (!is_writable(room->next, length)) {
    return;
  }
  struct cmsghdr header = *item;
  header.cmsg_len = length;
  memcpy(room->next, &header, sizeof(header));
  memcpy(room->next + sizeof(header), CMSG_DATA(item), length - sizeof(header));
  size_t space = CMSG_ALIGN(length) < room->left ? CMSG_ALIGN(length) : room->left;
  room->next += space;
  room->left -= space;
}

struct told take_control(const struct msghdr* got, uint32_t hidden, struct msghdr* caller) {
  struct told told = {-1, 0};
  size_t capacity = caller != NULL && caller->msg_control != NULL ? caller->msg_controllen : 0;
  struct room room = {caller != NULL ? caller->msg_control : NULL, capacity, false};
  struct msghdr whole = *got;
  for (struct cmsghdr* item = CMSG_FIRSTHDR(&whole); item != NULL;
       item = CMSG_NXTHDR(&whole, item)) {
    bool ours = false;
    if (item->cmsg_level == SOL_SOCKET) {
      int64_t stamp = stamp_in(item);
      if (stamp >= 0 && (told.stamp_ns < 0 || is_stamp_of_ours(item))) {
        told.stamp_ns = stamp;
      }
      if (item->cmsg_type == SO_RXQ_OVFL && item->cmsg_len >= CMSG_LEN(sizeof(told.dropped))) {
        memcpy(&told.dropped, CMSG_DATA(item), sizeof(told.dropped));
        ours = (hidden & HIDDEN_DROPS) != 0;
      } else if (is_stamp_of_ours(item)) {
        ours = (hidden & HIDDEN_STAMPS) != 0;
      }
    }
    if (!ours && caller != NULL) {
      hand_on(item, &room);
    }
  }
  if (caller != NULL) {
    caller->msg_controllen = capacity - room.left;
    caller->msg_flags = got->msg_flags | (room.cut ? MSG_CTRUNC : 0);
  }
  return told;
}
