# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sensor drivers: what they read, the frames that they made of it, and what they published."""
