// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The probes of the provider `ros2`, as the installed tracetools declares its events.
#define TRACEPOINT_CREATE_PROBES
#include "tracetools/tp_call.h"
