# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata live`: a running system, layer by layer, while it runs."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.completion import config_names
from strata.cli.quantities import Bytes, Seconds
from strata.cli.record import say
from strata.cli.statuses import CANNOT_RECORD, own_range

if TYPE_CHECKING:
    from strata.live.windows import Windows

_ONCE_S = 5.0


def checked_place(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse what is no place to serve at. Raises click.BadParameter."""
    del ctx, parameter
    port = (value or "0").rpartition(":")[2]
    if (
        not (port.isascii() and port.isdigit())
        or int(port) > 65535
        or (value or "").startswith(":")
    ):
        raise click.BadParameter(f"{value!r} is no port: write it as 9464 or 0.0.0.0:9464")
    return value


@click.command("live")
@click.option(
    "-c",
    "--config",
    metavar="CONFIG",
    help="Which events are recorded, without SOURCE: the name of a shipped session configuration, "
    "or a YAML file.  [default: as for record --attach]",
    **config_names,
)
@click.option(
    "--memory",
    type=Bytes(),
    metavar="SIZE",
    help="Memory of all ring buffers together, without SOURCE.  [default: 128M]",
)
@click.option("--once", is_flag=True, help="Watch for --duration (5s), print it, and end.")
@click.option("--duration", type=Seconds(), metavar="TIME", help="End after this time.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="With --once, what is printed: a screen, or a JSON document (docs/json.md).",
)
@click.option(
    "--prometheus",
    metavar="[ADDRESS:]PORT",
    callback=checked_place,
    help="Serve metrics for Prometheus there; on the loopback address unless another is given.",
)
@click.option("--otlp", metavar="URL", help="Send metrics to an OpenTelemetry collector (HTTP).")
@click.option(
    "--now",
    is_flag=True,
    help="Follow a session of lttng-relayd from now on, not from its start.",
)
@click.option("--companion", is_flag=True, hidden=True)
@click.argument("source", required=False)
def command(
    config: str | None,
    memory: int | None,
    once: bool,
    duration: float | None,
    form: str,
    prometheus: str | None,
    otlp: str | None,
    now: bool,
    companion: bool,
    source: str | None,
) -> None:
    """Show a running system while it runs: latencies, layers, losses, executors.

    Without SOURCE, what runs already is recorded into ring buffers, and nothing is written to disk
    but the last seconds; the processes must have been started as for `strata record --attach`.
    SOURCE is a directory of a running `strata guard`, or of a `strata record` with --rotate (then
    what is shown is as old as a chunk is long), or net://HOST[:PORT]/SESSION of a live session that
    lttng-relayd receives. Ends by Ctrl-C.

    Exit status: 0 it ended as it should; 1 with --once, no event of ROS 2 came; 2 usage; 125 it
    could not record or follow.
    """
    if form == "json" and not once:
        raise click.UsageError("--format json is for --once", click.get_current_context())
    if source is not None and (config or memory):
        raise click.UsageError(
            "-c and --memory are of a recording of its own, without SOURCE",
            click.get_current_context(),
        )
    if source is None:
        sys.exit(_of_own(config, memory, _own_options(once, duration, form, prometheus, otlp)))
    from strata.cli.live_view import View

    with own_errors(), _followed(source, from_now=now) as windows:
        view = View(
            once=once,
            seconds=duration or (_ONCE_S if once else None),
            as_json=form == "json",
            prometheus=prometheus,
            otlp=otlp,
            companion=companion,
        )
        sys.exit(view.run(windows))


@contextlib.contextmanager
def own_errors() -> Iterator[None]:
    """Give errors of Strata's the status of what could not be followed."""
    from strata.cli.statuses import own_statuses

    with own_statuses():
        yield


@contextlib.contextmanager
def _followed(source: str, *, from_now: bool) -> Iterator[Windows]:
    from strata.live.sources import SCHEME, follow_directory, follow_relayed

    if source.startswith(f"{SCHEME}:"):
        with follow_relayed(source, from_now=from_now) as windows:
            yield windows
    else:
        with follow_directory(Path(source)) as windows:
            yield windows


def _temporary() -> tempfile.TemporaryDirectory[str]:
    # It is gone already where the recorder had to be cleaned up after.
    return tempfile.TemporaryDirectory(prefix="strata-live-", ignore_cleanup_errors=True)


def _own_options(
    once: bool, duration: float | None, form: str, prometheus: str | None, otlp: str | None
) -> list[str]:
    options = ["--companion", f"--format={form}"]
    options += ["--once"] if once else []
    options += [f"--duration={duration:.3f}s"] if duration else []
    options += [f"--prometheus={prometheus}"] if prometheus else []
    return options + ([f"--otlp={otlp}"] if otlp else [])


def _of_own(config: str | None, memory: int | None, options: list[str]) -> int:
    """Record into ring buffers, with a view of them beside; return the view's exit status."""
    from strata.cli.record import recorded_config, ros_if_any
    from strata.record.companion import Companion
    from strata.record.recording import record
    from strata.record.ring import Ring

    said: list[str] = []
    companion = Companion("strata", lambda place: ["live", str(place), *options])

    def say_beside(line: str) -> None:
        # The view has the screen.
        if companion.begun:
            said.append(line)
        else:
            say(line)

    with own_range(), _temporary() as place:
        ros = ros_if_any()
        record(
            recorded_config(config, ros, None, attach=True),
            (),
            directory=Path(place),
            force=True,
            name="live",
            ros=ros,
            ring=Ring() if memory is None else Ring(memory),
            companion=companion,
            say=say_beside,
        )
    for line in said:
        say(line)
    return CANNOT_RECORD if companion.status is None else abs(companion.status)
