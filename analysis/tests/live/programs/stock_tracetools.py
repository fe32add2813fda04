# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a provider of `ros2` events alone, as an installed ROS 2 has.

usage: stock_tracetools.py COMMAND [ARGUMENT ...]
"""

import os
import sys

OWN = ("libros2_statedump.so", "libdds_tracepoints.so")
kept = [path for path in os.environ["LD_PRELOAD"].split(":") if not path.endswith(OWN)]
os.environ["LD_PRELOAD"] = ":".join(kept)
os.execvp(sys.argv[1], sys.argv[1:])
