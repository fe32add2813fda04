# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Small campaigns over a scenario of a shell script, written into files."""

from __future__ import annotations

from pathlib import Path

SCENARIO = """question: What is it?
workload: relay
settings:
  count: {default: 5, text: ticks}
  seconds: {default: 0.0, text: time that it takes beside}
  before: {default: "true", text: what it does first}
  tick: {default: "true", text: the traced program}
duration: {messages: 5, per_second: 10.0}
processes:
  - name: tick
    command: [sh, -c, "${before}; ${tick} ${count} && sleep ${seconds}"]
    ends: true
session: ros2
expected:
  - {process: tick, says: '5 ticks'}
"""

CAMPAIGN = """question: Does it tick?
studies:
  plain:
    question: Does it tick at all?
    scenario: ticks
    set: {seconds: 0.1}
    repetitions: 2
    warm_up: 1
    factors:
      count: {set: count, unit: Hz, levels: [5, 6]}
      way:
        levels:
          usual: {text: as it is}
          slow: {set: {load.workers: 1}, duration: 2s}
          absent: {needs: ["program:no_such_program_at_all"]}
    except:
      - {when: {count: 6, way: slow}, because: six are never slow}
    figures:
      - {kind: summary, of: latency, rows: [count, way]}
quick:
  plain: {duration: 3, repetitions: 1, warm_up: 0, levels: {way: [usual, absent]}}
"""


def written(directory: Path, text: str = CAMPAIGN, name: str = "small") -> Path:
    """Write a campaign and its scenario beside it; returns the campaign's file."""
    (directory / "ticks.yaml").write_text(SCENARIO)
    path = directory / f"{name}.yaml"
    path.write_text(text)
    return path
