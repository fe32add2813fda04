// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Preloaded, under the name of a DDS library: a timer signals the process a thousand times a second
// of its processor time, and the handler sends an RTPS message with a sample on every way there is.
// So a hook that records is interrupted by a hook that records. Prints at the end how often.
//
// Only threads that recorded an event before (they call storm_begins) are disturbed: the first
// event of a thread allocates LTTng-UST's thread-local data, and a handler must not allocate.
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int sockets[2];
static atomic_long signals, sent, refused, wrong;
static const unsigned char message[] = {
    'R',  'T', 'P', 'S', 2, 3, 1,  15, 9, 9, 9, 9, 9,  9, 9, 9, 9, 9, 9, 9,  // header
    0x15, 5,   28,  0,   0, 0, 16, 0,  0, 0, 0, 4, 0,  0, 9, 3,              // DATA, entities
    0,    0,   0,   0,   9, 0, 0,  0,  0, 1, 0, 0, 42, 0, 0, 0};             // number, value

static void note(ssize_t result) {
  if (result == (ssize_t)sizeof(message)) {
    sent++;
  } else if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    refused++;
  } else {
    wrong++;
  }
}

static _Thread_local bool begun;

void storm_begins(void) { begun = true; }

static void send_all(void) {
  int saved_errno = errno;
  struct iovec part = {(void*)message, sizeof(message)};
  struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
  signals++;
  note(sendmsg(sockets[0], &whole, MSG_DONTWAIT));
  note(sendto(sockets[0], message, sizeof(message), MSG_DONTWAIT, NULL, 0));
  note(send(sockets[0], message, sizeof(message), MSG_DONTWAIT));
  unsigned char got[sizeof(message)];
  for (int i = 0; i < 3 && recv(sockets[1], got, sizeof(got), MSG_DONTWAIT) > 0; i++) {
    wrong += memcmp(got, message, sizeof(message)) != 0;
  }
  errno = saved_errno;
}

static void on_signal(int number) {
  (void)number;
  if (begun) {
    send_all();
  }
}

__attribute__((constructor)) static void begin(void) {
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0) {
    abort();
  }
  // A DDS library's first call loads LTTng: no handler may be the first.
  send_all();
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct itimerval timer = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &timer, NULL);
}

__attribute__((destructor)) static void end(void) {
  struct itimerval timer = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &timer, NULL);
  fprintf(stderr, "storm: %ld signals, %ld sent, %ld refused, %ld wrong\n", signals, sent, refused,
          wrong);
}
