// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Many threads read one socket, each at first at the same time, with room for control data, while
// another sends. usage: threads PORT THREADS DATAGRAMS. Prints how many datagrams were read, how
// many of them twice or wrong, and how many calls had control data or were cut.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

static int fd;
static unsigned int datagrams;
static _Atomic unsigned char* seen;
static atomic_uint got, wrong, control;
static pthread_barrier_t begin;

static void* reader(void* argument) {
  (void)argument;
  pthread_barrier_wait(&begin);
  while (atomic_load(&got) < datagrams) {
    uint32_t number[2] = {UINT32_MAX, 0};
    char room[256];
    struct iovec part = {number, sizeof(number)};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    ssize_t size = recvmsg(fd, &message, 0);
    if (size < 0) {
      continue;
    }
    bool good = size == 8 && number[0] < datagrams && number[1] == ~number[0] &&
                atomic_fetch_add(&seen[number[0]], 1) == 0;
    atomic_fetch_add(&wrong, !good);
    atomic_fetch_add(&control, message.msg_controllen != 0 || message.msg_flags != 0);
    atomic_fetch_add(&got, 1);
  }
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 4) {
    return 2;
  }
  int threads = atoi(arguments[2]);
  datagrams = (unsigned int)atoi(arguments[3]);
  seen = calloc(datagrams, 1);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr = {htonl(INADDR_LOOPBACK)},
                                .sin_port = htons((uint16_t)atoi(arguments[1]))};
  fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct timeval patience = {0, 100000};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (bind(fd, (struct sockaddr*)&address, sizeof(address)) != 0) {
    return 1;
  }
  pthread_t readers[64];
  pthread_barrier_init(&begin, NULL, (unsigned int)threads + 1);
  for (int i = 0; i < threads; i++) {
    pthread_create(&readers[i], NULL, reader, NULL);
  }
  int sender = socket(AF_INET, SOCK_DGRAM, 0);
  pthread_barrier_wait(&begin);
  for (uint32_t i = 0; i < datagrams; i++) {
    uint32_t number[2] = {i, ~i};
    sendto(sender, number, sizeof(number), 0, (struct sockaddr*)&address, sizeof(address));
    // No more than the socket's queue holds.
    while (i - atomic_load(&got) > 50 && i > atomic_load(&got)) {
    }
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(readers[i], NULL);
  }
  printf("%u read, %u wrong, %u with control data\n", datagrams, wrong, control);
  return 0;
}
