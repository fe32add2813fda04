// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "events.h"
