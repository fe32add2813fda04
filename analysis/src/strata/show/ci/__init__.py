# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons and gates for CI systems: Markdown and JUnit XML."""
