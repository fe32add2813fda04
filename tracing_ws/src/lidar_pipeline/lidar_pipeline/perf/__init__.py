# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a subscriber measures, and its statistics."""
