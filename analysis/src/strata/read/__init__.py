# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace directory to declared event tables."""
