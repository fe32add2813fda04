// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef DRIVER_TRACEPOINTS_EXPORT_H
#define DRIVER_TRACEPOINTS_EXPORT_H

// Everything else is hidden.
#define EXPORT __attribute__((visibility("default")))

#endif
