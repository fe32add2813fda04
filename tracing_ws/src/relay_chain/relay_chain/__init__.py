# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A workload with known times: Source -> Relay_0 .. Relay_n -> Sink, each with its own stamps."""
