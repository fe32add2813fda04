# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events of the kernel without lttng-modules: recorded by perf, kept as CTF beside the others."""
