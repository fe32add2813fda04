// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "real.h"

#define PORTS 64

static uint16_t ports[PORTS];
static size_t port_count;

bool read_ports(void) {
  const char* at = getenv("DRIVER_TRACEPOINTS_UDP_PORTS");
  while (at != NULL && *at != '\0' && port_count < PORTS) {
    char* end;
    long port = strtol(at, &end, 10);
    if (end != at && port > 0 && port < 65536) {
      ports[port_count++] = (uint16_t)port;
    }
    at = *end == '\0' ? end : end + 1;
  }
  return port_count > 0;
}

uint16_t our_port(const struct sockaddr* address, socklen_t length) {
  uint16_t port = 0;
  if (address != NULL && length >= sizeof(struct sockaddr_in) && address->sa_family == AF_INET) {
    port = ntohs(((const struct sockaddr_in*)address)->sin_port);
  } else if (address != NULL && length >= sizeof(struct sockaddr_in6) &&
             address->sa_family == AF_INET6) {
    port = ntohs(((const struct sockaddr_in6*)address)->sin6_port);
  }
  for (size_t i = 0; port != 0 && i < port_count; i++) {
    if (ports[i] == port) {
      return port;
    }
  }
  return 0;
}

bool is_udp(int fd) {
  int type = 0, protocol = 0;
  socklen_t length = sizeof(type);
  return real_getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM &&
         real_getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length) == 0 &&
         protocol == IPPROTO_UDP;
}

void describe_address(int fd, char* text, size_t size) {
  struct sockaddr_storage address = {0};
  socklen_t length = sizeof(address);
  char host[INET6_ADDRSTRLEN] = "";
  getsockname(fd, (struct sockaddr*)&address, &length);
  const struct sockaddr_in* in = (const struct sockaddr_in*)&address;
  const struct sockaddr_in6* in6 = (const struct sockaddr_in6*)&address;
  if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
    snprintf(text, size, "[%s]:%u", host, ntohs(in6->sin6_port));
  } else {
    inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
    snprintf(text, size, "%s:%u", host, ntohs(in->sin_port));
  }
}
