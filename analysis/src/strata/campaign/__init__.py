# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many runs of scenarios, varied by a plan, measured and told in one report."""
