# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces while they are recorded."""
