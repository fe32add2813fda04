// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER ros2
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./named.h"

#if !defined(NAMED_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define NAMED_H
#include <lttng/tracepoint.h>
TRACEPOINT_EVENT(ros2, tick, TP_ARGS(int, number), TP_FIELDS(ctf_integer(int, number, number)))
// As tracetools has it.
TRACEPOINT_EVENT(ros2, rcl_node_init,
                 TP_ARGS(const void*, node_handle, const void*, rmw_handle, const char*, node_name,
                         const char*, space),
                 TP_FIELDS(ctf_integer_hex(const void*, node_handle, node_handle)
                               ctf_integer_hex(const void*, rmw_handle, rmw_handle)
                                   ctf_string(node_name, node_name) ctf_string(namespace, space)))
#endif

#include <lttng/tracepoint-event.h>
