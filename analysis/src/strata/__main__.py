# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m strata` is the `strata` command."""

from __future__ import annotations

from strata.cli.main import main

main()
