# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names, types, units, null meanings and losses; imports nothing of Strata but errors."""
