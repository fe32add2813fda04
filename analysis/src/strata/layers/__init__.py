# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From matched messages to layers, hops, chains and blame."""
