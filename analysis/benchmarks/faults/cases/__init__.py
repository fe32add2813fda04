# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All planted faults."""

from cases import callbacks, calls, drivers, executors, healthy, losses, middleware, python

CASES = [
    *callbacks.CASES,
    *executors.CASES,
    *drivers.CASES,
    *middleware.CASES,
    *losses.CASES,
    *calls.CASES,
    *python.CASES,
    *healthy.CASES,
]
