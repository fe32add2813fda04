// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The LTTng-UST provider `rclpy`: what rclcpp has no event for, as its callbacks never wait. A
// coroutine callback runs in pieces; each has a callback_start and a callback_end of its own, and
// these two events say which pieces are one execution.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER rclpy

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "events.h"

#if !defined(RCLPY_TRACEPOINTS_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define RCLPY_TRACEPOINTS_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

// callback_suspend: a callback awaits something that is not there; just before the callback_end of
// the piece that ran, on its thread.
//   callback: as in callback_start. execution: unique in the process, never used again.
LTTNG_UST_TRACEPOINT_EVENT(
    rclpy, callback_suspend, LTTNG_UST_TP_ARGS(const void*, callback, uint64_t, execution),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, callback, (uintptr_t)callback)
                            lttng_ust_field_integer(uint64_t, execution, execution)))

// callback_resume: the execution goes on, perhaps on another thread; just before the callback_start
// of its next piece. Fields as in callback_suspend.
LTTNG_UST_TRACEPOINT_EVENT(
    rclpy, callback_resume, LTTNG_UST_TP_ARGS(const void*, callback, uint64_t, execution),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, callback, (uintptr_t)callback)
                            lttng_ust_field_integer(uint64_t, execution, execution)))

#endif

#include <lttng/tracepoint-event.h>
