// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The provider `ros2_statedump`: what a thread of LTTng-UST emits between its two events was
// emitted before.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ros2_statedump
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "events.h"

#if !defined(ROS2_STATEDUMP_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ROS2_STATEDUMP_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

// A session started: the announcements of this process follow. announcements: how many.
// forgotten: how many are not among them, as there were too many.
LTTNG_UST_TRACEPOINT_EVENT(
    ros2_statedump, dump_begin, LTTNG_UST_TP_ARGS(uint32_t, announcements, uint64_t, forgotten),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, announcements, announcements)
                            lttng_ust_field_integer(uint64_t, forgotten, forgotten)))

// They are all emitted.
LTTNG_UST_TRACEPOINT_EVENT(ros2_statedump, dump_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
