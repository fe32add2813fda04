// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the hooks have to say, on standard error, once each; DDS_TRACEPOINTS_QUIET=1 silences them.
#ifndef DDS_TRACEPOINTS_NOTICE_H
#define DDS_TRACEPOINTS_NOTICE_H

#include <errno.h>

__attribute__((format(printf, 1, 2))) void notice(const char* format, ...);

#endif
