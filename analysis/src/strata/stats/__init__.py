# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Summaries of columns of nanoseconds; each cites its definition."""
