# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of timers, callbacks, publishers, subscriptions, services and clients."""
