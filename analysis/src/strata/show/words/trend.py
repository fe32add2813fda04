# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the latency of chains changed in the course of a long recording, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.analysis import Analysis
from strata.show.words.headline import chain_ends
from strata.show.words.naming import Names, lines_of
from strata.stats.bottleneck import cause, shared_names
from strata.stats.chain_drifts import MIN_MESSAGES, STEP
from strata.stats.drift import MIN_COUNT
from strata.stats.relevance import DEFAULT
from strata.units import (
    Unit,
    format_count,
    format_instant,
    format_ns,
    format_number,
    format_share,
    format_tick,
    unit_for,
)

Row = Mapping[str, Any]

MOST = 3
"""So many chains that changed are named in a summary."""
_LINES = 2
_INDENT = "  "
_LONG = 4
_S = 1_000_000_000
_SPANS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_DAY_NS = 86_400 * _S
_ALL = 0.995
"""From this share of a change on it is "all of it"."""
TOO_FEW = f"not judged: fewer than {MIN_COUNT} intervals of {MIN_MESSAGES} messages or more"


def changed_chains(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the rows of `drifts` of the chains that changed, the largest share first."""
    drifts = analysis.rows("drifts")
    rows = drifts.take(drifts["changed"]).records()
    return sorted(rows, key=lambda row: -abs(row["share"]))


def trend_sentences(analysis: Analysis, most: int = MOST) -> list[str]:
    """Return a sentence for each chain that changed; after `most` how many more there are."""
    changed = changed_chains(analysis)
    out = [
        f"{_short(chain_name(analysis, row['chain_id']))}: {change_words(analysis, row)}"
        for row in changed[:most]
    ]
    return [*out, *_rest(len(changed) - len(out), "see Over time")]


def trend_lines(analysis: Analysis, names: Names, width: int) -> list[str]:
    """Return the same in short: one line for each chain, or two of at most `width`."""
    changed = changed_chains(analysis)
    topics = dict(_of_chains(analysis, "name"))
    out: list[str] = []
    for row in changed[:MOST]:
        chain = chain_ends(topics[row["chain_id"]].split(" -> "), names)
        head = f"{chain}: {_signed(analysis, row)}, {_both(row['from_ns'], row['to_ns'])}"
        where = names.cause(row["layer"], row["where"]) if row["layer"] else ""
        much = f"{_part(row)} in {where}" if where else ""
        whole = f"{head}; {much}" if much else head
        first, *more = lines_of(whole, width - len(_INDENT))
        out += [first, *(f"{_INDENT}{line}" for line in more)][:_LINES]
    return [*out, *_rest(len(changed[MOST:]), "--trend")]


def chain_name(analysis: Analysis, chain_id: int) -> str:
    """Return what a chain is called: its nodes where another chain has the same topics."""
    name = str(dict(_of_chains(analysis, "name"))[chain_id])
    is_shared = name in shared_names(analysis.chains)
    return dict(_of_chains(analysis, "nodes"))[chain_id] if is_shared else name


def change_words(analysis: Analysis, row: Row) -> str:
    """Say how a chain of `drifts` changed, or that no change was found."""
    if not row["changed"]:
        return _unchanged(row)
    grew = row["change_ns"] > 0
    ends = f"from about {_both(row['from_ns'], row['to_ns'])}"
    if row["kind"] == STEP:
        verb = "jumped" if grew else "dropped"
        change = format_ns(abs(row["change_ns"]))
        when = f"at {_time(analysis, row['step_ns'])} (after {_since(analysis, row['step_ns'])})"
        text = f"latency {verb} by {change} {when}, {ends}"
    else:
        verb = "grew" if grew else "fell"
        unit = unit_for(row["slope_ns_per_hour"])
        low, high = sorted(abs(row[f"{end}_ns_per_hour"]) for end in ("low", "high"))
        slope = f"{_in(abs(row['slope_ns_per_hour']), unit)} {unit.name} per hour"
        text = f"latency {verb} by {slope} ({_in(low, unit)} to {_in(high, unit)}), {ends}"
    if row["layer"] is None:
        return text
    return f"{text}; {_part(row)} in {cause(row['layer'], row['where'])}"


def no_change(analysis: Analysis) -> str:
    """Say that of all chains that could be judged none changed; empty where one did."""
    drifts = analysis.rows("drifts")
    if drifts["changed"].any():
        return ""
    if not len(drifts):
        return f"No chain was judged: none has {MIN_COUNT} intervals of {MIN_MESSAGES} messages."
    bound = f"{100 * DEFAULT.relative:.3g} % and {format_tick(DEFAULT.absolute_ns)}"
    return f"No chain's latency changed by {bound} or more, beyond chance."


def span_words(ns: int) -> str:
    """Say a time of seconds to days in two units: "1 h 12 min", "45 s"."""
    seconds = max(round(ns / _S), 0)
    parts: list[str] = []
    for name, size in _SPANS:
        count, rest = divmod(seconds, size)
        if (parts or count) and len(parts) < 2:
            parts.append(f"{count} {name}" if count else "")
            seconds = rest
    return " ".join(filter(None, parts)) or "0 s"


def _short(name: str) -> str:
    """Name a chain of many topics by the first and the last one."""
    parts = name.split(" -> ")
    return name if len(parts) <= _LONG else f"{parts[0]} -> ... -> {parts[-1]}"


def _of_chains(analysis: Analysis, column: str) -> list[tuple[int, str]]:
    chains = analysis.rows("chains")
    return list(zip(chains["chain_id"].tolist(), chains.texts(column).tolist(), strict=True))


def _rest(count: int, where: str) -> list[str]:
    return [f"and {format_count(count, 'more chain', 'more chains')} ({where})"] if count else []


def _unchanged(row: Row) -> str:
    low, high = row["low_ns_per_hour"], row["high_ns_per_hour"]
    unit = unit_for(max(abs(low), abs(high)))
    return f"no change found: {_in(low, unit)} to {_in(high, unit)} {unit.name} per hour"


def _signed(analysis: Analysis, row: Row) -> str:
    sign = "+" if row["change_ns"] > 0 else "-"
    if row["kind"] == STEP:
        change = format_ns(abs(row["change_ns"]))
        return f"{sign}{change} at {_time(analysis, row['step_ns'])}"
    return f"{sign}{format_ns(abs(row['slope_ns_per_hour']))} per hour"


def _part(row: Row) -> str:
    share = row["layer_share"]
    # Beyond all of it others changed the other way.
    if share is None or not 0 < share < _ALL:
        return "all of it" if share is not None and share > 0 else "most"
    return f"{format_share(share)} of it"


def _both(low_ns: float, high_ns: float) -> str:
    """Say two durations, the unit once where both have the same: "4.10 to 5.30 ms"."""
    unit = unit_for(high_ns)
    if unit is not unit_for(low_ns):
        return f"{format_ns(low_ns)} to {format_ns(high_ns)}"
    return f"{_in(low_ns, unit)} to {format_ns(high_ns)}"


def _in(ns: float, unit: Unit) -> str:
    return format_number(ns / unit.ns)


def _time(analysis: Analysis, ns: int) -> str:
    """Say when it was to the second: with the date in a recording of a day or more."""
    date, time, zone = format_instant(ns).split(" ")
    short = f"{time.partition('.')[0]} {zone}"
    return f"{date} {short}" if analysis.trace.duration_ns >= _DAY_NS else short


def _since(analysis: Analysis, ns: int) -> str:
    return span_words(ns - analysis.trace.begin_ns)
