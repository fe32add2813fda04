// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER ros2
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./numbers.h"

#if !defined(NUMBERS_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define NUMBERS_H
#include <lttng/tracepoint.h>
TRACEPOINT_EVENT(ros2, numbered,
                 TP_ARGS(unsigned int, thread, unsigned int, number, const char*, filling,
                         unsigned int, size),
                 TP_FIELDS(ctf_integer(unsigned int, thread, thread)
                               ctf_integer(unsigned int, number, number)
                                   ctf_sequence_text(char, filling, filling, unsigned int, size)))
#endif

#include <lttng/tracepoint-event.h>
