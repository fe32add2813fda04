# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Interactive figures: pure functions from frames to bokeh models, one module a figure."""
