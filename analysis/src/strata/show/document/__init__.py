# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results as JSON documents and as rectangles of CSV."""
