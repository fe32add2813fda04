# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was read, and which processes it is of."""

from __future__ import annotations

from pathlib import Path

from strata.analysis import Process, TraceSummary
from strata.model.build import Model
from strata.model.processes import ProcessFacts
from strata.printable import path_text
from strata.read import Trace
from strata.read.incident import read_faults
from strata.read.manifest import describe_machine, read_manifest
from strata.read.processes import Threads, count_processes


def summarize_trace(trace: Trace, model: Model, facts: ProcessFacts) -> TraceSummary:
    """Return what was read, in a few figures."""
    census = model.facts.census()
    found = trace.findings.counts
    unknown = "discarded_unknown" in found
    discarded = None if unknown else found.get("discarded_events", 0)
    manifest = read_manifest(trace.path)
    return TraceSummary(
        path=path_text(trace.path),
        events=census.events,
        discarded_events=discarded,
        begin_ns=census.begin_ns,
        end_ns=census.end_ns,
        processes=_processes(census.threads, model, facts),
        machine=describe_machine(manifest) if manifest else "",
        faults=read_faults(trace.path),
        opened=Path(trace.path),
    )


def _processes(threads: Threads, model: Model, facts: ProcessFacts) -> tuple[Process, ...]:
    """Every process that emitted any event; also those of other providers alone."""
    nodes, known = model.entities.nodes, model.processes
    places = list(zip(known.host, known.vpid.tolist(), strict=True))
    out = []
    for found in count_processes(threads):
        if found.vpid is None:
            continue
        numbers = [n for n, place in enumerate(places) if place == (found.host, found.vpid)]
        if not numbers:
            out.append(Process(found.host, found.vpid, found.name, (), found.events))
        for number in numbers:
            several = len(numbers) > 1
            out.append(
                Process(
                    found.host,
                    found.vpid,
                    str(facts.procname[number] or "") if several else found.name,
                    tuple(dict.fromkeys(nodes.name[nodes.process == number])),
                    int(facts.events[number]) if several else found.events,
                    facts.distro[number],
                    facts.version[number],
                )
            )
    return tuple(sorted(out, key=lambda process: (process.host, process.vpid)))
