# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the numbers mean: causes over the whole system, ranked, and said in a sentence."""
