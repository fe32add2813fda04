// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "events.h"
