# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the package's own modules importable; those that need ROS run in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
