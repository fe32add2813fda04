# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sentences and choices that text, page and documents share."""
