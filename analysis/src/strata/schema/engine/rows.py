# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The rows that leave the engine: their columns, by table.

A table of the engine is what ended (an execution, a take) with the numbers of the rows that it
belongs to; null is -1. The declared tables of results (strata.schema.tables) are made of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from strata.schema.engine.dds_rows import DDS_ROWS
from strata.schema.engine.driver_rows import DRIVER_ROWS
from strata.schema.engine.entity_rows import ENTITY_ROWS
from strata.schema.engine.execution_rows import EXECUTION_ROWS
from strata.schema.engine.intra_process_rows import INTRA_PROCESS_ROWS
from strata.schema.engine.process_rows import PROCESS_ROWS
from strata.schema.engine.scheduling_rows import SCHEDULING_ROWS
from strata.schema.engine.service_rows import SERVICE_ROWS
from strata.schema.engine.step_rows import STEP_ROWS
from strata.schema.engine.traffic_rows import TRAFFIC_ROWS

INT, SHORT, FLAG = "int64_t", "int32_t", "uint8_t"
"""What C++ has in a column; NumPy has int64, int32 and uint8 for them."""


@dataclass(frozen=True)
class EngineRows:
    """One table of the engine: its name, and (column, type, meaning) of each column.

    Columns of `of_pass` are needed by rules of the engine alone, and go when the pass ends.
    """

    name: str
    columns: tuple[tuple[str, str, str], ...]
    doc: str
    of_pass: tuple[str, ...] = ()


ENGINE_ROWS: tuple[EngineRows, ...] = tuple(
    EngineRows(*declared)
    for declared in (
        *PROCESS_ROWS,
        *ENTITY_ROWS,
        *EXECUTION_ROWS,
        *STEP_ROWS,
        *TRAFFIC_ROWS,
        *INTRA_PROCESS_ROWS,
        *SCHEDULING_ROWS,
        *DDS_ROWS,
        *SERVICE_ROWS,
        *DRIVER_ROWS,
    )
)
