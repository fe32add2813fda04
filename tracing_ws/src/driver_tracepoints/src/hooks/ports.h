// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Which sockets are ours: UDP, and bound to a port of DRIVER_TRACEPOINTS_UDP_PORTS.
#ifndef DRIVER_TRACEPOINTS_HOOKS_PORTS_H
#define DRIVER_TRACEPOINTS_HOOKS_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

// Reads the variable; false when it names no port.
bool read_ports(void);

// The port of an address when it is one of ours; else 0.
uint16_t our_port(const struct sockaddr* address, socklen_t length);

bool is_udp(int fd);

// The address that a socket is bound to, as a source's: "0.0.0.0:7502", "[::]:7502".
void describe_address(int fd, char* text, size_t size);

#endif
