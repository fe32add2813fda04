# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results as text for a terminal of 80 columns or more."""
