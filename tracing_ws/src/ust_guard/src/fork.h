// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef UST_GUARD_FORK_H
#define UST_GUARD_FORK_H

// Has LTTng-UST start again in the children of this process, once it is loaded. Where its own
// library for that is preloaded, this is left to it.
void heed_forks(void);

#endif
