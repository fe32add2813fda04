# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The option `--host` of the verbs that run scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from strata.scenario.remote_host import RemoteHost


def remote_hosts(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[RemoteHost, ...]:
    """Read each NAME=ADDRESS[:DIR]."""
    from strata.scenario.remote_host import RemoteHost

    found: dict[str, RemoteHost] = {}
    for value in values:
        try:
            one = RemoteHost.parse(value)
        except ValueError as error:
            raise click.BadParameter(
                f"{error}, like b=robot@10.0.0.2:/home/robot/strata."
            ) from error
        if one.name in found:
            raise click.BadParameter(f"host {one.name} is given twice.")
        found[one.name] = one
    return tuple(found.values())
