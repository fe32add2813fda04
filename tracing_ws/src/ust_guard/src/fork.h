// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef UST_GUARD_FORK_H
#define UST_GUARD_FORK_H

// Has LTTng-UST start again in the children of this process, once it is loaded. Where its own
// library for that is preloaded, this is left to it.
void heed_forks(void);

// Has LTTng-UST's threads, which wait in a forked child, begin now, and waits for the session
// daemon as LTTng-UST does where it is loaded. Elsewhere it does nothing. Called by name (dlsym),
// by who is about to emit a process's first event.
void strata_ust_guard_begin(void);

#endif
