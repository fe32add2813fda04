// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The sources of this process, for the library and its hooks. No function allocates or waits, but
// for the one that begins: any other may be called in a signal handler.
#ifndef DRIVER_TRACEPOINTS_SOURCES_H
#define DRIVER_TRACEPOINTS_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

// Loads the probes, once, and with them LTTng-UST, which waits for the session daemon. The hooks
// are preloaded into every program of a recording: those without a source of ours get no LTTng-UST.
void strata_driver_hook_begin(void);

// Registers a source of the hooks: one that claims nothing, and is announced with its first event.
uint64_t strata_driver_hook_source(const char* kind, const char* address);

// True once the program itself announced a UDP source on this port.
bool strata_driver_hook_port_claimed(uint16_t port);

// True once the program itself announced the appsink of this name.
bool strata_driver_hook_sink_claimed(const char* name);

// True while a session records packet_received, buffer_pulled.
bool strata_driver_hook_wants_packets(void);
bool strata_driver_hook_wants_buffers(void);

#endif
