# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The `strata` command: one module a verb; main.py alone maps errors to exit codes."""
