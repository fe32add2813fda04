# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Measured tables of many cells, read together: a file by itself costs more than its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from strata.errors import CampaignError
from strata.schema.table import Table

LARGEST_FILE = 1 << 18
"""Bytes of a file that is kept; of a larger one, each reader reads the columns that it wants."""

BOUND = 1 << 29
"""Bytes of all tables that are kept."""


class KeptTables:
    """The small tables of known cells, each read once; frames are shared, and never changed."""

    def __init__(self, bound: int = BOUND, largest_file: int = LARGEST_FILE) -> None:
        """Keep tables of `bound` bytes, from files of at most `largest_file` bytes."""
        self._left, self._largest = bound, largest_file
        self._directories: dict[Path, None] = {}
        self._frames: list[pd.DataFrame] = []
        self._chosen: dict[tuple[int, tuple[str, ...]], pd.DataFrame] = {}
        self._places: dict[tuple[str, Path], tuple[int, slice] | None] = {}

    def add(self, directory: Path) -> None:
        """Make known a directory of measured tables."""
        self._directories[directory] = None

    def frame(
        self, directory: Path, name: str, declared: Table, columns: Sequence[str]
    ) -> pd.DataFrame | None:
        """Return columns of a table of a known directory; None where it is too large to be kept.

        Reads that table of all known directories of which it was not read yet.
        """
        if (name, directory) not in self._places:
            wanted = [one for one in self._directories if (name, one) not in self._places]
            self._read(wanted, name, declared)
        place = self._places[name, directory]
        if place is None:
            return None
        number, rows = place
        # Of all cells at once: to choose columns of a frame takes longer than to cut its rows.
        chosen = (number, tuple(columns))
        if chosen not in self._chosen:
            self._chosen[chosen] = self._frames[number][list(columns)]
        cut = self._chosen[chosen].iloc[rows]
        cut.index = pd.RangeIndex(len(cut))
        return cut

    def _read(self, directories: Sequence[Path], name: str, declared: Table) -> None:
        found: dict[Path, pa.Table] = {}
        for directory in directories:
            self._places[name, directory] = None
            path = directory / f"{name}.parquet"
            try:
                if path.stat().st_size > self._largest:
                    continue
                table = _table(path, declared.names)
            except (OSError, ValueError, KeyError) as error:
                raise _damaged(directory, name, error) from error
            if table.nbytes <= self._left:
                self._left -= table.nbytes
                found[directory] = table
        # Several, should cells have been written by other versions: their types may differ.
        for alike in _by_schema(found).values():
            whole = pa.concat_tables([found[one] for one in alike])
            begin = 0
            for one in alike:
                end = begin + found[one].num_rows
                self._places[name, one] = (len(self._frames), slice(begin, end))
                begin = end
            self._frames.append(typed(whole.to_pandas(), declared))


def read_table(directory: Path, name: str, declared: Table, columns: Sequence[str]) -> pd.DataFrame:
    """Read columns of a measured table. Raises CampaignError when it is damaged."""
    try:
        frame = pd.read_parquet(directory / f"{name}.parquet", columns=list(columns))
    except (OSError, ValueError, KeyError) as error:
        raise _damaged(directory, name, error) from error
    return typed(frame, declared)


def check_table(directory: Path, name: str) -> None:
    """Raise CampaignError when a measured table is damaged, by what stands at its end."""
    try:
        pq.read_metadata(directory / f"{name}.parquet")
    except (OSError, ValueError) as error:
        raise _damaged(directory, name, error) from error


def _damaged(directory: Path, name: str, error: Exception) -> CampaignError:
    fact = error.strerror if isinstance(error, OSError) and error.strerror else "it is damaged"
    return CampaignError(
        f"Cannot read {directory / f'{name}.parquet'}: {fact}. Remove {directory}, and the next "
        "report measures the cell again."
    )


def typed(frame: pd.DataFrame, declared: Table) -> pd.DataFrame:
    """Return columns with the types that are declared for them."""
    types = {one.name: one.pandas_dtype for one in declared.columns if one.name in frame.columns}
    return frame.astype(types)


def _table(path: Path, columns: Sequence[str]) -> pa.Table:
    with pq.ParquetFile(path) as file:
        return file.read(columns=list(columns), use_threads=False)


def _by_schema(tables: dict[Path, pa.Table]) -> dict[str, list[Path]]:
    """Return directories by the schema of their tables, with what pandas noted in it."""
    out: dict[str, list[Path]] = {}
    for directory, table in tables.items():
        said = table.schema.to_string(show_schema_metadata=False)
        out.setdefault(said, []).append(directory)
    return out
