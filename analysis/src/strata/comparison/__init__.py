# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Two sides, of one run or several each, against each other: differences, losses and gates."""
