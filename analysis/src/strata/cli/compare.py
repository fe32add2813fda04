# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata compare`: two runs, or two sets of runs, against each other and against gates."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from strata.cli.chain import chain_option, declared_links, links_option, parse_chain
from strata.cli.output import check_output, output_options, write_json, write_output
from strata.cli.progress import counting_progress, decoding_progress
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option
from strata.errors import GateError
from strata.stats.relevance import Least

if TYPE_CHECKING:
    from strata.comparison.comparison import Comparison
    from strata.comparison.gates.judge import Judgement
    from strata.comparison.gates.load import Gate
    from strata.comparison.runs import Run, Subject
    from strata.comparison.sides import Side

_BROKEN = 3
_LEAST = re.compile(r"(\d+(?:\.\d+)?)%,(\d+(?:\.\d+)?)(ns|us|ms|s)")
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_FORMATS = ("text", "json", "markdown", "junit", "html")


def _least(_context: click.Context, _parameter: click.Parameter, text: str) -> Least:
    """Read ``5%,20us``; either may be 0. Raises UsageError for anything else."""
    found = _LEAST.fullmatch(text.replace(" ", ""))
    if found is None:
        raise click.UsageError(
            f"--relevant {text!r} is not a percentage and a time, as in 5%,20us; times are in ns, "
            "us, ms or s"
        )
    return Least(float(found[1]) / 100, round(float(found[2]) * _NS[found[3]]))


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", required=False, type=click.Path(path_type=Path))
@click.option(
    "--gate",
    "gates_path",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="YAML file of gates (docs/compare.md); exit status 3 when one is broken.",
)
@links_option
@processes_option
@chain_option
@quantiles_option
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="text and html (a page; with -o) for people; json, markdown and junit (gates) for CI.",
)
@output_options
@click.option(
    "--also",
    "further",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write another format to a file, too; repeatable.",
)
@click.option(
    "--relevant",
    "least",
    default="5%,20us",
    show_default=True,
    callback=_least,
    metavar="PERCENT,TIME",
    help="The least difference that matters: at least this part of A's latency, and this time.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Show every comparison, internal topics too."
)
def command(
    a: Path,
    b: Path | None,
    gates_path: Path | None,
    links_path: Path | None,
    chain: str | None,
    quantiles: tuple[float, ...],
    form: str,
    output: Path | None,
    further: tuple[str, ...],
    least: Least,
    *,
    all_processes: bool,
    force: bool,
    everything: bool,
) -> None:
    """Compare B with A: every chain, hop, layer and callback, and losses.

    A and B are traces (sessions), or directories with several sessions of the same thing, such as
    the repetitions of a campaign's cell. A alone is checked against gates that need no other.
    """
    from strata import analyze
    from strata.cli.titles import title_of
    from strata.comparison.compared import side_of
    from strata.comparison.comparison import compare_sides, require_common
    from strata.comparison.gates.judge import judge
    from strata.comparison.gates.load import read_gates
    from strata.comparison.runs import measure_run
    from strata.read.sessions import warm_up_of
    from strata.stats.quantiles import name_of

    written = [_further(text) for text in further]
    if gates_path is None and (b is None or "junit" in (form, *(name for name, _ in written))):
        raise click.UsageError("one trace alone, and JUnit, need --gate FILE")
    if b is None and "html" in (form, *(name for name, _ in written)):
        raise click.UsageError("a page shows a comparison: give A and B")
    if form == "html" and output is None:
        raise click.UsageError("--format html is a page: name its file with -o PAGE.html")
    if quantiles and b is None:
        raise click.UsageError("--quantiles needs A and B: gates name their own percentiles")
    for path in (output, *(path for _, path in written)):
        check_output(path, force=force)
    gates = read_gates(gates_path) if gates_path else ()
    if b is None:
        _require_absolute(gates, gates_path)
    links = declared_links(links_path)
    topics = parse_chain(chain) if chain else None

    def measured(path: Path) -> Run:
        with decoding_progress() as progress:
            analysis = analyze(
                path, links=links, chain=topics, progress=progress, all_processes=all_processes
            )
            return measure_run(analysis, title_of(path), warm_up_of(path))

    first, second = (None, a) if b is None else (side_of(a, measured), b)
    last = side_of(second, measured)
    wanted = _wanted(everything=everything)
    with counting_progress("compared") as compared:
        names = tuple(map(name_of, quantiles))
        found = (
            None
            if first is None
            else compare_sides(
                first, last, wanted=wanted, quantiles=names, least=least, progress=compared
            )
        )
    if found is not None and not gates:
        require_common(found)
    result = _Result(found, judge(gates, first, last), first, last, everything)
    for name, path in ((form, output), *written):
        write_output(path, partial(result.write, name))
    if any(one.broken for one in result.judgements):
        sys.exit(_BROKEN)
    if found is not None:
        # Gates of B alone may hold of two runs of which nothing could be compared.
        require_common(found)


@dataclass(frozen=True)
class _Result:
    comparison: Comparison | None
    judgements: Sequence[Judgement]
    a: Side | None
    b: Side
    everything: bool

    def write(self, form: str, file: IO[str]) -> None:
        # Each form has modules of its own, of which the others have no need.
        if form == "json":
            from strata.show.document.comparison import document

            write_json(document(self.comparison, self.judgements, self.a, self.b), file)
        elif form == "markdown":
            from strata.show.ci.markdown import markdown

            found, sides = self.comparison, (self.a, self.b)
            file.write(markdown(found, self.judgements, *sides, everything=self.everything))
        elif form == "html" and self.comparison is not None:
            from strata.show.html.comparison import render_comparison

            file.write(render_comparison(self.comparison))
        elif form == "junit":
            from strata.show.ci.junit import junit

            file.write(junit(self.judgements, self.a, self.b))
        else:
            from strata.cli.console import make_console
            from strata.show.terminal.comparison import print_comparison, print_gates

            console = make_console(file)
            if self.comparison is not None:
                print_comparison(self.comparison, console, everything=self.everything)
            if self.judgements:
                print_gates(self.judgements, console, None if self.comparison else self.b)


def _further(text: str) -> tuple[str, Path]:
    form, equals, path = text.partition("=")
    if form not in _FORMATS or not equals or not path:
        raise click.UsageError(f"--also {text!r} is not FORMAT=FILE, as junit=gates.xml")
    return form, Path(path)


def _require_absolute(gates: Sequence[Gate], path: Path | None) -> None:
    for gate in gates:
        if gate.condition.relative:
            raise GateError(
                f"Cannot use gates {path}:{gate.line}: {gate.name!r} needs two sides, and one "
                "trace was given. Give A and B."
            )


def _wanted(*, everything: bool) -> Callable[[Subject], bool]:
    return lambda subject: everything or not subject.internal
