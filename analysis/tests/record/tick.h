// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER ros2
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./tick.h"

#if !defined(TICK_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define TICK_H
#include <lttng/tracepoint.h>
TRACEPOINT_EVENT(ros2, tick, TP_ARGS(int, number), TP_FIELDS(ctf_integer(int, number, number)))
#endif

#include <lttng/tracepoint-event.h>
