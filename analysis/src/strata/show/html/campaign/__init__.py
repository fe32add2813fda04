# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: one HTML file that needs nothing beside it."""
