# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Published results of others, in the formats of their tools, as values with units."""

from strata.originals.formats import FORMATS, read_original
from strata.originals.imported import Finding, Imported, Run

__all__ = ["FORMATS", "Finding", "Imported", "Run", "read_original"]
