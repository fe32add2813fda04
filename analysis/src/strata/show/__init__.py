# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From an analysis to text, JSON, CSV and one HTML page."""
