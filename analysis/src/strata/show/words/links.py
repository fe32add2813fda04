# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Message links that a trace makes probable: as a links file, and as sentences."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from strata.printable import printable
from strata.schema.rows import Rows

Row = Mapping[str, Any]

_OUTPUT = ["node", "cut", "output", "published"]


def links_file(proposals: Rows, trace: str, recording: Iterable[str] = ()) -> str:
    """Return a links file (strata.read.links) of the table `link_proposals`.

    What is not probable is there as a comment, and so is what `recording` says of the whole
    recording.
    """
    probable = proposals.take(proposals["probable"])
    lines = [
        *(f"# {printable(text)}" for text in recording),
        f"# Message links of {printable(trace)}, inferred by `strata links`: no event shows them.",
        "# Read each, delete what is wrong, and hand the file to a verb's option --links.",
        "links:" if len(probable) else "links: []",
    ]
    for rows in _by_output(probable):
        lines += _entries(rows)
    possible = proposals.take(~proposals["probable"])
    if len(possible):
        lines += ["", "# Possible too, where a node publishes from what it keeps for long:"]
    for rows in _by_output(possible):
        lines += [f"# {line}" for line in _entries(rows)]
    return "\n".join(lines) + "\n"


def _by_output(proposals: Rows) -> list[list[Row]]:
    """Rows of one output together, in the order in which the outputs come first."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in proposals.records():
        found.setdefault(tuple(row[name] for name in _OUTPUT), []).append(row)
    return list(found.values())


def _entries(rows: list[Row]) -> list[str]:
    """Entries for one output, one a kind, each after what speaks for it."""
    import yaml

    first = rows[0]
    out = ["", f"  # {first['node']} publishes {first['output']} {first['published']}."]
    out = [printable(line) for line in out]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        out += [f"  #   {printable(reason)}" for reason in _reasons(own)]
        inputs = list(dict.fromkeys(row["input"] for row in own))
        entry = {"node": first["node"], "inputs": inputs, "outputs": [first["output"]]}
        text = yaml.safe_dump(
            [{**entry, "kind": kind}], sort_keys=False, default_flow_style=None, width=math.inf
        )
        out += [f"  {line}" for line in text.splitlines()]
    return out


def _reasons(rows: list[Row]) -> Iterable[str]:
    for row in rows:
        of, new, stored = (f"{row[name]:,}" for name in ("publications", "new", "stored"))
        yield (
            f"{row['input']}: a message was there before {stored} of {of}, a new one before {new}."
        )
    decided = {(row["decided"], row["foretold"]) for row in rows if row["decided"] is not None}
    for count, foretold in sorted(decided):
        yield (
            f"{foretold:,} of {count:,} callbacks published just when each of these inputs had a "
            "new message."
        )
    if rows[0]["cut"] == "fan-in" and not decided:
        yield "No callback shows that the node waits for this input."


def cut_chains(proposals: Rows) -> list[str]:
    """Return a sentence for each node at which chains end or lose an input."""
    out = []
    for rows in _by_output(proposals.take(proposals["probable"])):
        row, inputs = rows[0], _listed(one["input"] for one in rows)
        if row["cut"] == "stored":
            out.append(
                f"Chains end at {row['node']}: it publishes {row['output']} {row['published']}, "
                f"not in the callback of {inputs}."
            )
        else:
            out.append(
                f"Chains lose inputs at {row['node']}: it publishes {row['output']} "
                f"{row['published']}, perhaps from messages of {inputs} too."
            )
    return [printable(sentence) for sentence in out]


def links_advice(trace: str) -> str:
    """Return how to have the chains go on."""
    path = shlex.quote(printable(trace))
    return (
        f"What links them is not in the trace. `strata links {path} > links.yaml` writes what is "
        f"probable; `strata analyze {path} --links links.yaml` follows it."
    )


def _listed(names: Iterable[str]) -> str:
    *rest, last = sorted(set(names))
    return f"{', '.join(rest)} or {last}" if rest else last
