# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes of a trace are analyzed, on the command line."""

from __future__ import annotations

import click

processes_option = click.option(
    "--all-processes",
    is_flag=True,
    help="Include processes that the recorded command did not start.",
)
