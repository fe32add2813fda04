# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of campaigns: cells measured, published results imported, tables and answers of both."""
