// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// A library of its own, which emit.c opens where ROS 2 is traced: a program that is not traced
// loads no LTTng for it.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "events.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void rclpy_trace_callback_suspend(const void* callback, uint64_t execution) {
  lttng_ust_tracepoint(rclpy, callback_suspend, callback, execution);
}

EXPORT void rclpy_trace_callback_resume(const void* callback, uint64_t execution) {
  lttng_ust_tracepoint(rclpy, callback_resume, callback, execution);
}
