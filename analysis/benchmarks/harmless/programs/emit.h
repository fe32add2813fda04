// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events as a ROS 2 program emits them, by the function that a recording puts into the process; in
// one that is not recorded nothing happens. What makes a process one that LTTng-UST lives in.
#ifndef HARMLESS_EMIT_H
#define HARMLESS_EMIT_H

// What the events bear, by which the trace is asked for them; 0: emit nothing.
extern long emitted_as;

void emit(int times);

#endif
