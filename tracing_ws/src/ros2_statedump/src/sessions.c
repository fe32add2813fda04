// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Sees that a session starts. LTTng-UST has no call for that, but it dumps its own state then, on
// its own thread: the tracepoint lttng_ust_statedump:start is passed once for each session that
// starts, or is asked to with `lttng regenerate statedump`. What registers with a tracepoint is
// called with it, so that waiting for a session costs nothing.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "announcements.h"
#include "events.h"

// As liblttng-ust declares its tracepoint: another text is refused.
#define SIGNATURE "struct lttng_ust_session *, session"

static dump_function dump;

static void emit_begin(uint32_t announcements, uint64_t forgotten) {
  lttng_ust_tracepoint(ros2_statedump, dump_begin, announcements, forgotten);
}

static void emit_end(void) { lttng_ust_tracepoint(ros2_statedump, dump_end); }

// LTTng-UST has started the session, and holds its lock.
static void session_starts(void* data, void* session) {
  static const struct brackets brackets = {emit_begin, emit_end};
  (void)data;
  (void)session;
  dump(&brackets);
}

EXPORT void ros2_statedump_watch(dump_function given) {
  dump = given;
  lttng_ust_tracepoint_provider_register("lttng_ust_statedump", "start",
                                         (void (*)(void))session_starts, NULL, SIGNATURE);
}
