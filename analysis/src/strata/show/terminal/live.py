# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A running system on one screen: what changed first, in as many lines as there are.

Of each section as many rows are shown as there is space for, in turns; the last line counts what
is left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from strata.live.judged import ExecutorSeen, Hop
from strata.live.tally import RECENT_NS, ChainTally, Counts, HopTally, Tally
from strata.printable import printable
from strata.schema.events import INTERNAL_TOPICS
from strata.show.words.fitting import fitted
from strata.show.words.live import (
    chain_label,
    changes,
    largest_layers,
    loss_text,
    nodes_label,
)
from strata.show.words.naming import lines_of
from strata.units import format_count, format_instant, format_ns, format_number, format_share
from strata.verdict.causes import FULL

_LINES_PER_VERDICT = 6
"""The verdict has one of so many lines."""
_WORST = 3
"""Chains of which the largest layers are shown."""
_RATE, _TIME, _COUNT, _HOST = 8, 9, 12, 16
_TURNS = ("chains", "losses", "chains", "executors", "chains", "topics")
"""Which section may have its next row."""
_SPAN = f"{RECENT_NS // 1_000_000_000} s"
_LAST = f"last {_SPAN}"
_COLUMNS = (f"p50 {_SPAN}", f"p99 {_SPAN}", "p50 all", "p99 all")


def live_screen(tally: Tally, height: int | None, now_ns: int | None = None) -> RenderableType:
    """Return the screen, as wide as the console; in `height` lines, where null is all lines.

    `now_ns` is the time since the epoch, by default that of this machine's clock.
    """
    return _Screen(tally, height, time.time_ns() if now_ns is None else now_ns)


@dataclass(frozen=True)
class _Section:
    """A section of the screen: its title, the first rows of `size`, and what a row is called.

    A row has one line or some.
    """

    title: Text
    rows: Sequence[Sequence[Text]]
    size: int
    one: str
    many: str

    def lines(self, count: int) -> list[Text]:
        """Return the title and the first rows; nothing without rows."""
        shown = [line for row in self.rows[:count] for line in row]
        return [self.title, *shown] if shown else []


class _Screen:
    def __init__(self, tally: Tally, height: int | None, now_ns: int) -> None:
        self._tally, self._height, self._now_ns = tally, height, now_ns
        self._recent = tally.recent()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield each line; none is wrapped."""
        for line in self._lines(options.max_width):
            line.no_wrap, line.overflow = True, "ellipsis"
            yield line

    def _lines(self, width: int) -> list[Text]:
        tally, height = self._tally, self._height
        if tally.until_ns is None:
            waits = [Text("Waiting for events of ROS 2.", style="bold")]
            return [*waits, *_trouble(tally, width)][:height]
        head = [self._status(tally.until_ns), *_trouble(tally, width)]
        head += _verdict(tally, width, height)
        if height is not None and len(head) >= height:
            return head[:height]
        room = None if height is None else height - len(head)
        return head + _fill(self._sections(width), room, width)

    def _status(self, until_ns: int) -> Text:
        recent = self._recent
        messages = _per_s(sum(recent.published.values()), recent.span_ns)
        age = format_ns(max(0, self._now_ns - until_ns))
        rest = f"  {age} ago  {self._tally.events_per_s:,.0f} events/s  {messages} messages/s"
        return Text.assemble((format_instant(until_ns), "bold"), rest)

    def _sections(self, width: int) -> dict[str, _Section]:
        counts, most = (self._tally.total, self._recent, width), self._height
        return {
            "chains": _chains(*counts, most),
            "losses": _losses(*counts, most),
            "executors": _executors(self._tally.executors, width, most),
            "topics": _topics(*counts, most),
        }


def _fill(sections: dict[str, _Section], room: int | None, width: int) -> list[Text]:
    """Return the sections in at most `room` lines, the last of which counts what is left out."""
    counts = dict.fromkeys(sections, 0)
    if room is None:
        counts = {name: len(section.rows) for name, section in sections.items()}
    waiting = set(sections) if room is not None else set()
    while waiting:
        for name in _TURNS:
            more = {**counts, name: counts[name] + 1}
            if name not in waiting:
                continue
            if counts[name] < len(sections[name].rows) and _fits(sections, more, room):
                counts = more
            else:
                waiting.discard(name)
    lines = [line for name, one in sections.items() for line in one.lines(counts[name])]
    left = [
        format_count(one.size - counts[name], one.one, one.many)
        for name, one in sections.items()
        if one.size > counts[name]
    ]
    if left:
        lines.append(Text(fitted(f"not shown: {', '.join(left)}", width), style="dim"))
    return lines


def _fits(sections: dict[str, _Section], counts: dict[str, int], room: int | None) -> bool:
    size = sum(len(one.lines(counts[name])) for name, one in sections.items())
    size += any(counts[name] < one.size for name, one in sections.items())
    return room is None or size <= room


def _trouble(tally: Tally, width: int) -> list[Text]:
    """Say what was not seen; nothing when all was."""
    parts = []
    if tally.discarded:
        parts.append(f"{format_count(tally.discarded, 'event', 'events')} discarded")
    if tally.unseen_ns:
        parts.append(f"{format_ns(tally.unseen_ns)} unseen")
    if tally.unread:
        parts.append(f"{format_count(tally.unread, 'window', 'windows')} unread")
    text = f"Not complete: {', '.join(parts)}"
    return [Text(fitted(text, width), style="bold red")] if parts else []


def _verdict(tally: Tally, width: int, height: int | None) -> list[Text]:
    if not tally.system.text:
        return [Text("No message has reached the end of its callback yet.", style="dim")]
    lines = lines_of(f"System: {printable(tally.system.text)}", width)
    most = len(lines) if height is None else max(1, height // _LINES_PER_VERDICT)
    if len(lines) > most:
        lines = [*lines[: most - 1], _front(" ".join(lines[most - 1 :]), width)]
    texts = [Text(line) for line in lines]
    texts[0].stylize("bold red" if tally.system.stands_out else "bold green", 0, len("System:"))
    return texts


def _chains(total: Counts, recent: Counts, width: int, most: int | None) -> _Section:
    """Return a row per chain: those that changed first, then by their median since the start."""
    room = width - _RATE - 4 * _TIME
    columns = "".join(f"{name:>{_TIME}}" for name in _COLUMNS)
    title = f"chains (all: {format_ns(total.span_ns)})"
    head = Text(f"{_cell(title, room)}{'/s':>{_RATE}}{columns}", style="bold")
    found = []
    for chain, of in total.chains.items():
        now = recent.chains.get(chain, ChainTally())
        words = changes(of, now, total.span_ns, recent.span_ns)
        found.append((not words, -(of.latency.quantile_ns(0.5) or 0.0), chain, words, now))
    found.sort(key=lambda one: one[:3])
    same = Counter(name for name, _ in total.chains)
    rows = []
    for place, (_, _, chain, words, now) in enumerate(found[:most]):
        of = total.chains[chain]
        label = chain_label(chain, room - 3, with_node=same[chain[0]] > 1)
        row = [_chain_line(label, of, now, recent.span_ns, room, changed=bool(words))]
        if words:
            row.append(Text(f"    {_front(', '.join(words), width - 4)}", style="yellow"))
        if place < _WORST and (layers := largest_layers(now if now.latency.count else of)):
            row.append(Text(f"    {_front(layers, width - 4)}", style="dim"))
        rows.append(row)
    return _Section(head, rows, len(found), "chain", "chains")


def _chain_line(
    label: str, of: ChainTally, now: ChainTally, span_ns: int, room: int, *, changed: bool
) -> Text:
    times = [one.latency.quantile_ns(at) for one in (now, of) for at in (0.5, 0.99)]
    figures = f"{_per_s(now.latency.count, span_ns):>{_RATE}}"
    figures += "".join(f"{format_ns(ns):>{_TIME}}" for ns in times)
    mark = ("! ", "bold yellow") if changed else "  "
    return Text.assemble(mark, _cell(label, room - 2), figures)


def _losses(total: Counts, recent: Counts, width: int, most: int | None) -> _Section:
    """Return a row for each hop and cause, new ones first: what was lost lately, and in all."""
    room = width - 2 * _COUNT
    title = Text(_cell("losses", room) + f"{_LAST:>{_COUNT}}{'in all':>{_COUNT}}", style="bold")
    found: list[tuple[bool, int, int, Hop, str]] = []
    for hop, of in total.hops.items():
        now = recent.hops.get(hop, HopTally()).lost
        for cause, count in of.lost.items():
            old = now[cause] < count or total.span_ns == recent.span_ns
            found.append((old, -now[cause], -count, hop, cause))
    rows = []
    for old, minus_now, minus_all, (topic, publisher, subscription), cause in sorted(found)[:most]:
        way = _cell(printable(f"{topic}, {publisher} -> {subscription}"), room - 2)
        mark = "  " if old else ("! ", "bold yellow")
        head = Text.assemble(mark, way, f"{-minus_now:>{_COUNT},}{-minus_all:>{_COUNT},}")
        why = printable(loss_text(cause)) if old else f"new: {printable(loss_text(cause))}"
        style = "yellow" if minus_now else "dim"
        rows.append([head, Text(f"    {_front(why, width - 4)}", style=style)])
    return _Section(title, rows, len(found), "loss", "losses")


def _executors(executors: Sequence[ExecutorSeen], width: int, most: int | None) -> _Section:
    """Return a row per executor, the busiest first; those that are not known last."""
    rows = []
    several = len({one.host for one in executors}) > 1
    ordered = sorted(executors, key=lambda one: (-_busy(one), one.host, one.vpid))
    for one in ordered[:most]:
        full = one.busy is not None and one.busy >= FULL
        busy = format_share(one.busy)
        where = f" on {fitted(printable(one.host), _HOST)}" if several else ""
        process = f"  pid {one.vpid}{where}, {format_count(one.threads, 'thread', 'threads')}"
        head = f"  {busy:>7}  {'FULL' if full else '':<4}  "
        room = width - cell_len(head) - cell_len(process)
        nodes = _cell(nodes_label(one.nodes, room - 1), room)
        rows.append([Text(f"{head}{nodes}{process}", style="red" if full else "")])
    title = Text("executors: how busy", style="bold")
    return _Section(title, rows, len(ordered), "executor", "executors")


def _busy(executor: ExecutorSeen) -> float:
    return -1.0 if executor.busy is None else executor.busy


def _topics(total: Counts, recent: Counts, width: int, most: int | None) -> _Section:
    """Return a row per topic, that of most messages per second first; internal ones last."""
    room = width - _RATE - _COUNT
    columns = f"{'/s':>{_RATE}}{'messages':>{_COUNT}}"
    title = Text(_cell("topics", room) + columns, style="bold")
    ordered = sorted(
        total.published,
        key=lambda topic: (topic in INTERNAL_TOPICS, -recent.published[topic], topic),
    )
    rows = []
    for topic in ordered[:most]:
        rate = _per_s(recent.published[topic], recent.span_ns)
        name = _cell(printable(topic), room - 2)
        rows.append([Text(f"  {name}{rate:>{_RATE}}{total.published[topic]:>{_COUNT},}")])
    return _Section(title, rows, len(ordered), "topic", "topics")


def _per_s(count: int, span_ns: int) -> str:
    return format_number(count * 1e9 / span_ns) if span_ns else "-"


def _cell(text: str, width: int) -> str:
    """Return a text in exactly `width` cells; of a longer one its end."""
    return set_cell_size(fitted(text, max(width - 1, 1)), max(width, 1))


def _front(text: str, width: int) -> str:
    """Return a text in at most `width` cells; of a longer one its front."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 1)) + "…"
