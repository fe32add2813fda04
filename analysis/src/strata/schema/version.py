# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The version of the schema of event tables and results."""

VERSION = 1
"""Changes whenever the current code would misread tables written before."""
