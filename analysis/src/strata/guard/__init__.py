# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on which a flight recorder keeps a snapshot of what it holds."""
