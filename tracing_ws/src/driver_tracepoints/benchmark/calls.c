// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Times calls: prints "name ns" lines, the least of the rounds. usage: calls PORT. The socket of
// the first figures is bound to PORT, that of `recv, other port` is not.
#include <arpa/inet.h>
#include <driver_tracepoints/driver.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CALLS 100
#define ROUNDS 300

static int reader, other, sender, zero;
static struct sockaddr_in addresses[2];
static char data[16384];
static uint64_t source;
static struct strata_driver_packet packet;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fill(int which) {
  for (int i = 0; i < CALLS; i++) {
    sendto(sender, data, 64, 0, (struct sockaddr*)&addresses[which], sizeof(addresses[which]));
  }
}
static void fill_ours(void) { fill(0); }
static void fill_other(void) { fill(1); }
static void nothing(void) {}

static void cloud(void) { strata_driver_cloud_ready(source, 1, 2); }
static void boundary(void) { strata_driver_frame_boundary(source, 1, 2, 3, 4, 5); }
static void recv_ours(void) { recv(reader, data, sizeof(data), MSG_DONTWAIT); }
static void recv_other(void) { recv(other, data, sizeof(data), MSG_DONTWAIT); }
static void read_file(void) {
  if (read(zero, data, 1) != 1) {
    abort();
  }
}
static void receive(void) {
  strata_driver_receive(source, other, data, sizeof(data), MSG_DONTWAIT, &packet);
}

static const struct {
  const char* name;
  void (*before)(void);
  void (*call)(void);
} cases[] = {
    {"empty call", nothing, nothing},
    {"strata_driver_cloud_ready", nothing, cloud},
    {"strata_driver_frame_boundary", nothing, boundary},
    {"recv, sensor's port", fill_ours, recv_ours},
    {"recv, other port", fill_other, recv_other},
    {"read of a file", nothing, read_file},
    {"strata_driver_receive", fill_other, receive},
};

int main(int count, char** arguments) {
  reader = socket(AF_INET, SOCK_DGRAM, 0);
  other = socket(AF_INET, SOCK_DGRAM, 0);
  sender = socket(AF_INET, SOCK_DGRAM, 0);
  zero = open("/dev/zero", O_RDONLY);
  int sockets[] = {reader, other};
  for (int i = 0; i < 2; i++) {
    socklen_t length = sizeof(addresses[i]);
    addresses[i].sin_family = AF_INET;
    addresses[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    addresses[i].sin_port = i == 0 && count > 1 ? htons((uint16_t)atoi(arguments[1])) : 0;
    if (bind(sockets[i], (struct sockaddr*)&addresses[i], length) != 0) {
      perror("bind");
      return 1;
    }
    getsockname(sockets[i], (struct sockaddr*)&addresses[i], &length);
  }
  source = strata_driver_source_init("udp", "benchmark", "0.0.0.0:1");
  // The kernel needs a moment to turn its stamps on.
  usleep(200000);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    int64_t least = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
      cases[i].before();
      int64_t began = now_ns();
      for (int call = 0; call < CALLS; call++) {
        cases[i].call();
      }
      int64_t took = now_ns() - began;
      least = took < least ? took : least;
      // Lets the consumer daemon empty the buffers: a lost event would be a cheap one.
      usleep(1000);
    }
    printf("%s\t%.1f\n", cases[i].name, (double)least / CALLS);
  }
  return 0;
}
