# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of one analysis: its first screen, its messages, and its sections."""
