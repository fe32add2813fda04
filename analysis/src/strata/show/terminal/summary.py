# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as one screen: at most 40 lines of 80 columns, whatever the system, answer first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.read.manifest import RESULTS_NAME
from strata.schema.diagnostic import Severity
from strata.schema.layers import DRIVER_LAYERS
from strata.schema.quality import SAID_FIRST
from strata.show.terminal.chain_block import (
    LEGEND,
    LEGEND_MARK,
    ChainBlock,
    folded,
    rest_text,
)
from strata.show.terminal.findings import said_first
from strata.show.terminal.summary_lines import (
    action_lines,
    callback_lines,
    driver_lines,
    executor_lines,
    loss_lines,
    service_lines,
    thread_lines,
    timer_lines,
)
from strata.show.words.chain_choice import chosen_chains
from strata.show.words.commands import Commands, continued
from strata.show.words.headline import headline
from strata.show.words.naming import ELLIPSIS, Names, fitted, lines_of
from strata.show.words.slowest import slowest_messages
from strata.show.words.trend import trend_lines
from strata.show.words.trust import trust_words
from strata.show.words.unsynchronised import NOTE
from strata.units import format_count, format_instant, format_ns

LINES = 40
_LABEL = 12
_FIRST = 24
"""Lines of a small terminal: a longer screen says its answer again at its end."""
_SLOWEST = 3
_FOCUS_LINES = 7
_MOST_FIRST = 2
_PAGE = "Page: "


def summary_lines(
    analysis: Analysis, commands: Commands, width: int, sections: Iterable[str]
) -> list[Text]:
    """Return the screen; `sections` are the options for more that the trace has something for."""
    return _Screen(analysis, commands, width, tuple(sections)).lines()


def print_summary(
    analysis: Analysis, commands: Commands, console: Console, sections: Iterable[str]
) -> None:
    """Print the screen; a command that is longer than a line is not broken."""
    for line in summary_lines(analysis, commands, console.width, sections):
        console.print(line, soft_wrap=True)


class _Screen:
    def __init__(
        self, analysis: Analysis, commands: Commands, width: int, sections: tuple[str, ...]
    ) -> None:
        self._analysis, self._commands, self._width = analysis, commands, width
        self._sections = sections
        self._names = Names(analysis)
        self._answer = headline(analysis, self._names)

    def lines(self) -> list[Text]:
        """Return all lines: of the chains as many as there is room for."""
        top = [*self._head(), *self._verdict(), *self._tries()]
        below = [*self._others(), *self._slowest()]
        # Room for the answer again and for what there is more of.
        end = self._end(repeat=True)
        chains = self._chains(LINES - len(top) - len(below) - len(end))
        if len(top) + len(chains) + len(below) + len(end) <= _FIRST:
            end = self._end(repeat=False)
        return [*top, *chains, *below, *end]

    def _head(self) -> list[Text]:
        trace, names = self._analysis.trace, self._names
        nodes = names.nodes
        hosts = {process.host for process in trace.processes}
        *place, name = printable(trace.path.rstrip("/")).rpartition("/")
        if name == RESULTS_NAME and place[0]:
            # Of the recording that they are in.
            name = f"{place[0].rpartition('/')[2]}/{name}"
        name = name or printable(trace.path)
        parts = [format_ns(trace.duration_ns)]
        parts.append(format_count(len(nodes), "node", "nodes") if nodes else "nodes not known")
        if len(hosts) > 1:
            parts.append(f"{len(hosts)} hosts")
        parts.append(format_count(self._analysis.counts.published, "message", "messages"))
        fine = trust_words(self._analysis) == "OK"
        after = "" if fine else " (--quality)"
        all_trust = [f"trust: {trust_words(self._analysis, most)}{after}" for most in (2, 1, 0)]
        trust = next((one for one in all_trust if len(one) <= self._width - 2), all_trust[-1])
        whole = cell_len("  ".join([*parts, trust])) + 2
        room = self._width - whole
        style = "green" if fine else "yellow"
        if cell_len(name) > room:
            room = self._width - cell_len("  ".join(parts)) - 2
            first = [Text.assemble((fitted(name, room), "bold"), "  ", "  ".join(parts))]
            first.append(Text(f"  {fitted(trust, self._width - 2)}", style=style))
        else:
            first = [Text.assemble((name, "bold"), "  ", "  ".join(parts), "  ", (trust, style))]
        if names.namespace:
            first.append(
                Text(fitted(f"  names are below {names.namespace}/", self._width), style="dim")
            )
        rows = list(self._analysis.rows("quality").records())
        lost = [
            row
            for row in rows
            if row["severity"] == Severity.LOSS.value and row["code"] not in SAID_FIRST
        ]
        faults = [{"severity": "fault", "text": text} for text in self._analysis.trace.faults]
        said = [*self._in_short(faults), *self._in_short(said_first(rows))]
        return [*said, *first, *self._in_short(lost)]

    def _in_short(self, rows: Sequence[Mapping[Any, Any]]) -> list[Text]:
        """Return the first remarks, each in two lines at most; faults in all that they need."""
        out: list[Text] = []
        for row in rows[:_MOST_FIRST]:
            lines = lines_of(f"{row['severity']}: {printable(row['text'])}", self._width - 2)
            if len(lines) > 2 and row["severity"] != "fault":
                more = f" {ELLIPSIS} (--quality)"
                lines = [lines[0], lines_of(lines[1], self._width - 2 - len(more))[0] + more]
            bad = row["severity"] in (Severity.LOSS.value, "fault")
            style = "bold red" if bad else "yellow"
            out += [Text(f"  {line}" if at else line, style=style) for at, line in enumerate(lines)]
        return out

    def _verdict(self) -> list[Text]:
        answer = self._answer
        if not answer.statements:
            text = "NO CHAIN    no message was followed from a publish to a callback"
            return [Text(text, style="bold yellow")]
        label = "BOTTLENECK" if answer.stands_out else "OK"
        style = "bold red" if answer.stands_out else "bold green"
        out: list[Text] = []
        for statement in answer.statements:
            for line in lines_of(statement, self._width - _LABEL):
                head = (f"{'' if out else label:<{_LABEL}}", style)
                out.append(Text.assemble(head, line))
        return out[:8]

    def _tries(self) -> list[Text]:
        """Return commands that lead on from the answer."""
        commands = self._commands
        tries = []
        slow = self._slow()
        if slow:
            tries.append(commands.path(slow[0].message_id))
        proposals = self._analysis.rows("link_proposals")
        if commands.links is None and proposals["probable"].any():
            tries.append(commands.follow_links())
        elif (section := self._next_section()) is not None:
            tries.append(commands.analyze(f"--{section}"))
        out: list[Text] = []
        for command in tries:
            before = f"{'' if out else '  try: ':<7}"
            lines = continued(command, self._width - 7)
            out += [
                Text(f"{before if not at else '':<7}{line}", style="cyan")
                for at, line in enumerate(lines)
            ]
        return out

    def _next_section(self) -> str | None:
        """Return the section that says more about the answer."""
        causes = self._analysis.rows("system_causes")
        first = causes.record(0) if len(causes) and causes["stands_out"][0] else None
        drivers = {layer.name for layer in DRIVER_LAYERS}
        wanted = ["layers", "services", "actions", "callbacks", "timers"]
        if first is not None and first["kind"] == "executor":
            wanted.insert(0, "executors")
        elif first is not None and first["layer"] in drivers:
            wanted.insert(0, "drivers")
        return next((name for name in wanted if name in self._sections), None)

    def _slow(self) -> list[Any]:
        chain = self._answer.chain_id
        return [] if chain is None else slowest_messages(self._analysis, chain, _SLOWEST)

    def _chains(self, room: int) -> list[Text]:
        """Return the focus chain line by line, then the others as far as there is room."""
        focus = self._answer.chain_id
        if focus is None:
            return []
        several = chosen_chains(self._analysis)
        shown = [focus, *(chain for chain in several if chain != focus)]
        room -= len(self._legend())
        # Only as many chains are looked at as can be named.
        blocks = [
            ChainBlock(self._analysis, chain, self._names, self._width) for chain in shown[:room]
        ]
        heads = [
            [*block.head(short=at > 0), *([] if at else block.notes())]
            for at, block in enumerate(blocks)
        ]
        lines = blocks[0].texts(blocks[0].lines())
        reserved = min(len(lines), _FOCUS_LINES)
        kept, used = 1, len(heads[0]) + reserved
        while kept < len(blocks) and used + len(heads[kept]) + 1 <= room:
            used += len(heads[kept])
            kept += 1
        left = len(shown) - kept
        room -= sum(map(len, heads[:kept])) + (1 if left else 0)
        bodies: list[list[Text]] = []
        for block in blocks[:kept]:
            body = self._body(block, room, fold=not bodies)
            bodies.append(body)
            room -= len(body)
        out = [
            text for head, body in zip(heads[:kept], bodies, strict=True) for text in (*head, *body)
        ]
        if left:
            more = format_count(left, "more chain", "more chains")
            out.append(Text(f"and {more} (--layers, --all)", style="dim"))
        return [*out, *self._legend()]

    @staticmethod
    def _body(block: ChainBlock, room: int, *, fold: bool) -> list[Text]:
        """Return the lines of a block that fit; of one that may not be folded, all or none."""
        lines = block.lines()
        texts = block.texts(lines)
        if len(texts) <= room or not fold:
            return texts if len(texts) <= room else []
        for most in range(len(lines) - 1, 0, -1):
            kept, rest = folded(lines, most)
            texts = block.texts(kept)
            if len(texts) < room:
                return [*texts, rest_text(rest)]
        return []

    def _legend(self) -> list[Text]:
        late = self._answer.stands_out
        texts = [LEGEND + (LEGEND_MARK if late else "")]
        if (self._analysis.rows("hops")["unsynchronised"] > 0).any():
            texts.append(NOTE)
        return [Text(line, style="dim") for text in texts for line in lines_of(text, self._width)]

    def _others(self) -> list[Text]:
        """Return the sections of a line or a few each, those that say nothing left out."""
        analysis, names, room = self._analysis, self._names, self._width - _LABEL
        followed = self._answer.chain_id is not None
        sections: Sequence[tuple[str, Callable[[], list[str]]]] = (
            ("OVER TIME", lambda: trend_lines(analysis, names, room)),
            ("DRIVERS", lambda: driver_lines(analysis, names, room)),
            ("THREADS", lambda: thread_lines(analysis, self._answer.chain_id, names)),
            ("LOST", lambda: loss_lines(analysis, names, room)),
            ("SERVICES", lambda: service_lines(analysis, names, most=2 if followed else 4)),
            ("ACTIONS", lambda: action_lines(analysis, names, most=2 if followed else 4)),
            ("CALLBACKS", lambda: [] if followed else callback_lines(analysis, names)),
            ("TIMERS", lambda: timer_lines(analysis, names, late_only=followed)),
            ("EXECUTORS", lambda: executor_lines(analysis, names, room)),
        )
        out: list[Text] = []
        for label, make in sections:
            for at, line in enumerate(make()):
                head = (f"{'' if at else label:<{_LABEL}}", "bold")
                out.append(Text.assemble(head, self._cut(line, room)))
        return out

    @staticmethod
    def _cut(line: str, room: int) -> str:
        """Return a line that fits: what is too long loses its last words."""
        lines = lines_of(line, room)
        if len(lines) == 1:
            return lines[0]
        return f"{lines_of(line, room - 2)[0]} {ELLIPSIS}"

    def _slowest(self) -> list[Text]:
        slow = self._slow()
        if not slow:
            return []
        several = len(self._analysis.rows("chains")) > 1
        first, *rest = slow
        at = format_instant(first.begin_ns).partition(" ")[2]
        text = f"#{first.message_id} {format_ns(first.latency_ns)} at {at}"
        parts = [text, *(f"#{one.message_id} {format_ns(one.latency_ns)}" for one in rest)]
        label = "Slowest of the first chain: " if several else "Slowest: "
        while len(parts) > 1 and cell_len(label + ", ".join(parts)) > self._width:
            parts.pop()
        return [Text(fitted(label + ", ".join(parts), self._width))]

    def _end(self, *, repeat: bool) -> list[Text]:
        """Return where to look next, after the answer in one line where it may be out of sight."""
        out = []
        answer = self._answer
        if repeat and answer.brief:
            label = "BOTTLENECK  " if answer.stands_out else "OK  "
            style = "bold red" if answer.stands_out else "bold green"
            brief = self._cut(answer.brief, self._width - len(label))
            out.append(Text.assemble((label, style), brief))
        options = " ".join(f"--{name}" for name in self._sections)
        lines = lines_of(f"More: {options} --all", self._width)
        page = continued(f"{_PAGE}{self._commands.report()}", self._width)
        if len(page) == 1 and cell_len(lines[-1] + page[0]) + 2 <= self._width:
            lines[-1] += f"  {page[0]}"
        else:
            lines += page
        return [*out, *(Text(line, style="dim") for line in lines)]
