# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: matrices of scenarios described by one YAML file, run cell by cell, and reported."""
