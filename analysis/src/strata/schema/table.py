# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a table declaration is, and how a frame is checked against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Column:
    """One column: dtype, unit, and what null means (`null` is empty when the column is never
    null)."""

    name: str
    dtype: str
    doc: str
    unit: str = ""
    null: str = ""

    @property
    def pandas_dtype(self) -> str:
        """The pandas dtype; integers and booleans that may be null have a nullable dtype."""
        nullable = {"int64": "Int64", "bool": "boolean"}
        return nullable.get(self.dtype, self.dtype) if self.null else self.dtype


@dataclass(frozen=True)
class Table:
    """One declared table: its key, its columns in order, and what a row is."""

    name: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    doc: str

    @property
    def names(self) -> list[str]:
        """Column names in order."""
        return [column.name for column in self.columns]

    def frame(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return `data` with exactly the declared columns, in order and of the declared dtypes.

        A declared column that is absent from `data` becomes all null; that is an error when the
        column is never null. Undeclared columns are an error. Raises ValueError.
        """
        import pandas as pd

        undeclared = [name for name in data.columns if name not in self.names]
        if undeclared:
            raise ValueError(f"table {self.name} declares no column {', '.join(undeclared)}")
        out = {}
        for column in self.columns:
            if column.name in data.columns:
                series = data[column.name]
            else:
                series = pd.Series([None] * len(data), index=data.index, dtype=object)
            if not column.null and len(series) and series.isna().any():
                raise ValueError(f"column {self.name}.{column.name} is null but must not be")
            out[column.name] = series.astype(column.pandas_dtype)  # type: ignore[call-overload]
        return pd.DataFrame(out, index=data.index).reset_index(drop=True)

    def empty(self) -> pd.DataFrame:
        """Return a frame of no rows."""
        import pandas as pd

        return self.frame(pd.DataFrame(columns=self.names))
