# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`make harmless`: run programs of many kinds as they are and recorded, and print a table of it.

Each configuration is one recording, in which the programs run one after the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from program_kinds import KINDS, Kind
from program_runs import CONFIGS, Ended, build, events_by_mark, line_for_all, results_in, runs_here
from program_table import differences, markdown


def _record(config: str, kinds: list[Kind], place: Path) -> tuple[dict[str, Ended], Path]:
    results, target = place / f"{config}.json", place / f"recorded_{config}"
    line = line_for_all(kinds, place, results)
    strata = [sys.executable, "-m", "strata", "record", "-c", config, "-o", str(target), "--"]
    # The wheels' start-up code has set it; the recording decides by itself.
    environment = {k: v for k, v in os.environ.items() if k != "_ROS_WHEELS_BOOTSTRAP_COMPLETE"}
    subprocess.run([*strata, *line], check=True, env=environment)
    return results_in(results), target / "trace"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--page", type=click.Path(exists=True, path_type=Path), help="Write into a page.")
def main(names: tuple[str, ...], page: Path | None) -> None:
    """Run the kinds of NAMES (all without any); print the table, and what differs that should not.

    The exit status is 3 when anything does.
    """
    kinds = [kind for kind in KINDS if runs_here(kind) and (not names or kind.name in names)]
    for kind in KINDS:
        if not runs_here(kind):
            click.echo(f"left out: {kind.name} needs {', '.join(kind.needs)}", err=True)
    with tempfile.TemporaryDirectory(prefix="harmless") as name:
        place = Path(name)
        build(kinds, place)
        plain_results = place / "plain.json"
        subprocess.run(line_for_all(kinds, place, plain_results), check=True)
        plain = results_in(plain_results)
        recorded, events = {}, {}
        for config in CONFIGS:
            recorded[config], trace = _record(config, kinds, place)
            events[config] = events_by_mark(trace)
    text = markdown(kinds, plain, recorded)
    if page is None:
        click.echo(text)
    else:
        _write_into(page, text)
    wrong = [
        line
        for config in CONFIGS
        for line in differences(kinds, config, plain, recorded[config], events[config])
    ]
    for line in wrong:
        click.echo(line, err=True)
    sys.exit(3 if wrong else 0)


def _write_into(page: Path, text: str) -> None:
    """Replace what is between the page's two marks."""
    begin, end = "<!-- made by `make harmless` -->\n", "<!-- end -->\n"
    before, _, rest = page.read_text().partition(begin)
    page.write_text(before + begin + text + end + rest.partition(end)[2])
    click.echo(f"wrote {page}", err=True)


if __name__ == "__main__":
    main()
