# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata: in which layer of a ROS 2 system did the time go?"""

from __future__ import annotations

__version__ = "0.1.0"
