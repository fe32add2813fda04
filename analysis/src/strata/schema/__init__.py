# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tables and events are: names, types, units, null meanings, losses. Imports nothing of Strata but errors."""
