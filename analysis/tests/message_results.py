# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The stages of messages and chains over a model, without a trace around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from strata.analysis import TABLE_OF, Bottleneck
from strata.model import frames
from strata.model.build import Model
from strata.pipeline.chains import CHAIN_STAGES
from strata.pipeline.messages import MESSAGE_STAGES, Wanted
from strata.pipeline.stages import Made, stage
from strata.schema.quality import Findings
from strata.schema.rows import Rows

STAGES = (
    *MESSAGE_STAGES,
    *CHAIN_STAGES,
    stage("callback_objects", frames.callback_objects_rows, "model"),
)


class MessageResults:
    """Declared tables of messages, hops and chains as frames of text, and the bottlenecks."""

    def __init__(self, made: Made, findings: Findings) -> None:
        """Take what the stages make, and what was found wrong until then."""
        self._made = made
        self.findings = findings
        self.tables: Mapping[str, pd.DataFrame] = _Frames(made)

    def rows(self, name: str) -> Rows:
        """Return a declared table."""
        found: Rows = self._made[name]
        return found

    @property
    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """What stands out of each chain."""
        found: tuple[Bottleneck, ...] = self._made["bottlenecks"]
        return found


class _Frames(Mapping[str, pd.DataFrame]):
    def __init__(self, made: Made) -> None:
        self._made = made

    def __getitem__(self, name: str) -> pd.DataFrame:
        table = TABLE_OF[name]
        return table.frame(self._made[name].frame())

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE_OF)

    def __len__(self) -> int:
        return len(TABLE_OF)


def message_results(model: Model, wanted: Wanted) -> MessageResults:
    """Run all stages that find something wrong.

    Raises TraceError when no message went the way of `wanted.chain`.
    """
    made = Made(STAGES, model=model, wanted=wanted)
    return MessageResults(made, model.findings + made.findings())
