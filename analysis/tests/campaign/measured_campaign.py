# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory around recorded sessions, as if they had been run just now."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from strata.campaign.cells import Cell, Variant, expand
from strata.campaign.directory import CellState, make_directory
from strata.campaign.load import load_campaign
from strata.campaign.model import Figure
from strata.study.campaign_results import Results, open_results
from strata.study.cell_tables import measure_cell
from strata.study.tables import Table, table_of

RELAY = """\
question: What does QoS change?
original:
  title: "The original"
  machine: another
  client: rclcpp
  published: [relay.csv]
  corrections: [one, two]
studies:
  qos:
    question: What does QoS change?
    scenario: relay_chain
    set: {relays: 1}
    duration: 60
    warm_up: 5
    nominal_hz: rate
    measured: {topic: /chain_*}
    factors:
      reliability: {set: reliability, levels: [reliable, best_effort]}
      durability: {set: durability, levels: [volatile, transient_local]}
  chains:
    question: What does the whole chain cost?
    scenario: relay_chain
    set: {relays: 1}
    duration: 60
    warm_up: 5
    chain: true
    measured: {topic: /chain_*}
    factors:
      rate: {set: rate, unit: Hz, levels: [100.0, 10.0]}
      executor: {set: executor, levels: [single, multi]}
"""

LIDAR = """\
question: How steady are scans?
original: {title: "The original", machine: a laptop, published: [ouster-test-cases.csv]}
studies:
  test_cases:
    question: How steady are scans?
    scenario: lidar_512x10
    duration: 25
    warm_up: 5
    nominal_hz: 10
    measured: {topic: /points, node: perf_node}
    factors:
      test_case: {levels: {tc2: {text: the sensor's stamps}, tc3: {set: {closing: next}}}}
"""


def make_campaign(place: Path, text: str, sessions: Mapping[str, Path]) -> Results:
    """Make a campaign of the file `text`; a cell whose id begins so has a copy of that session."""
    file = place / "made.yaml"
    file.write_text(text)
    loaded = load_campaign(str(file))
    variant = Variant(seed=1)
    cells = expand(loaded, variant)
    directory = make_directory(place / "campaign", loaded, variant, cells)
    directory.path.mkdir()
    directory.write()
    measured: dict[Path, Path] = {}
    for cell in cells:
        for begin, session in sessions.items():
            if cell.id.startswith(begin):
                # Of the same session and for the same hops, the tables hold in a copy, too.
                target = directory.cell_directory(cell)
                shutil.copytree(measured.get(session, session), target)
                directory.write_state(cell, finished(cell))
                measure_cell(directory, cell)
                measured[session] = target
    return open_results(directory.path)


def finished(cell: Cell) -> CellState:
    """The state of a cell that ran well."""
    return CellState(
        id=cell.id,
        status="finished",
        reason=None,
        begun_utc="2026-11-22T03:00:00Z",
        duration_s=2.0,
        order=cell.order,
        load_average=None,
        busy_percent=None,
        frequency_khz=None,
        busy=False,
        command=[],
        measured="",
    )


def made(results: Results, study: str, kind: str, **asked: object) -> Table:
    """Make a table, and check that its frame has its columns."""
    table = table_of(results, study, Figure.model_validate({"kind": kind, **asked}))
    assert table.frame.columns.tolist() == [column.name for column in table.columns]
    assert bool(table.empty) == (not len(table.frame))
    return table
