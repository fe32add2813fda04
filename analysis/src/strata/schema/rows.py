# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a declared table as NumPy columns, used by statistics, verdicts and pages.

Integers that may be null hold `NONE` for it, booleans that may be null are int8 with `NONE`, floats
hold NaN. Text is coded: each distinct word once, and the number of its word in each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
import numpy.typing as npt

from strata.schema.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

_LINES = 10_000
"""Number of rows converted to Python objects at a time."""

NONE = -1
"""Null in columns of integers, and in the codes of text."""


@dataclass(frozen=True)
class Coded:
    """A column of text: row i has the word `words[codes[i]]`, or null where its code is `NONE`."""

    codes: Ints
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Coded:
        """Return texts as a column; words are in order of first occurrence.

        NaN is null too.
        """
        number: dict[str, int] = {}
        codes = [
            NONE if text is None or text != text else number.setdefault(text, len(number))
            for text in texts
        ]
        return cls(np.asarray(codes, np.int64), tuple(number))

    def texts(self) -> Objects:
        """Return the text of each row as an object; None for null."""
        return np.asarray([*self.words, None], dtype=object)[self.codes]

    def are(self, *words: str) -> Flags:
        """Return which rows have one of some words."""
        wanted = np.array([*(word in words for word in self.words), False], bool)
        return np.asarray(wanted[self.codes])

    def ranks(self) -> Ints:
        """Return numbers that sort like the texts, equal for equal texts; null is `NONE`."""
        order = sorted(range(len(self.words)), key=self.words.__getitem__)
        rank = np.full(len(order) + 1, NONE, np.int64)
        rank[order] = np.arange(len(order))
        return np.asarray(rank[self.codes])

    def take(self, rows: Ints | Flags) -> Coded:
        """Return some rows, by number or by mask; the words are kept."""
        return Coded(taken(self.codes, rows), self.words)

    def at(self, row: int) -> str | None:
        """Return the text of one row."""
        code = int(self.codes[row])
        return None if code == NONE else self.words[code]


def nulls(rows: int) -> Ints:
    """Return a column of only `NONE`: one number in memory, however many rows; read-only."""
    return np.broadcast_to(np.int64(NONE), rows)


def one_if_equal(values: Ints) -> Ints:
    """Return a column as one number in memory if all values are equal; read-only."""
    if len(values) and values[0] == values[-1] and (values == values[0]).all():
        return np.broadcast_to(np.int64(values[0]), len(values))
    return values


_numbers: ref[Ints] | None = None


def row_numbers(count: int) -> Ints:
    """Return 0 .. count - 1: one array in memory, however many columns use it; read-only."""
    global _numbers
    found = None if _numbers is None else _numbers()
    if found is None or len(found) < count:
        found = np.arange(count, dtype=np.int64)
        found.setflags(write=False)
        _numbers = ref(found)
    return found[:count]


def rows_where(flags: Flags) -> Ints:
    """Return the rows that are flagged; `row_numbers` if all are."""
    return row_numbers(len(flags)) if flags.all() else np.flatnonzero(flags)


def are_all(rows: Ints, count: int) -> bool:
    """Return whether some rows are known to be all of them in order, as from `row_numbers`."""
    found = None if _numbers is None else _numbers()
    if found is None:
        return False
    begin, step = found.ctypes.data, found.strides
    own = rows.base is found and len(rows) == count and rows.strides == step
    return own and bool(rows.ctypes.data == begin)


def at_rows(values: Ints, rows: Ints) -> Ints:
    """Return `values[rows]`, read-only: the values themselves if the rows are all of them."""
    return values if are_all(rows, len(values)) else values[rows]


def numbered(*columns: Coded | Ints) -> Ints:
    """Number the distinct rows of some columns, in their order; `NONE` where a text is null.

    Whole numbers are as they are: of these none is null.
    """
    keys = [column.ranks() if isinstance(column, Coded) else column for column in columns]
    known = np.ones(len(keys[0]), bool)
    for column, key in zip(columns, keys, strict=True):
        known &= (key != NONE) | (not isinstance(column, Coded))
    out = np.full(len(known), NONE, np.int64)
    out[known] = np.unique(np.stack(keys)[:, known], axis=1, return_inverse=True)[1].ravel()
    return out


Values = npt.NDArray[Any] | Coded
Later = Callable[[], Values]
"""Makes a column when it is first asked for."""


@dataclass(frozen=True)
class Again:
    """A maker of a cheap column: recomputed on demand, and kept only while in use."""

    make: Later

    def __call__(self) -> Values:
        """Make the column."""
        return self.make()


class Rows:
    """Rows of a declared table; columns have one length and are never written to."""

    def __init__(self, table: Table, columns: Mapping[str, Values | Later]) -> None:
        """Take the columns of a table; an absent column that may be null is all null.

        At least one column is there, those given as functions are made when they are asked for.
        Raises ValueError for an undeclared column, for one that is absent and never null, for
        columns of different lengths, and for integers that went through floats.
        """
        undeclared = [name for name in columns if name not in table.names]
        if undeclared:
            raise ValueError(f"table {table.name} declares no column {', '.join(undeclared)}")
        lengths = {len(column) for column in columns.values() if not callable(column)}
        if len(lengths) > 1:
            raise ValueError(f"columns of {table.name} have lengths {sorted(lengths)}")
        self.table = table
        self._length = lengths.pop() if lengths else 0
        self._later: dict[str, tuple[Column, Later]] = {}
        self._columns: dict[str, Values] = {}
        self._used: dict[str, ref[Any]] = {}
        for column in table.columns:
            values = columns.get(column.name)
            if callable(values):
                self._later[column.name] = (column, values)
            else:
                self._columns[column.name] = _declared(table, column, values, self._length)

    def _values(self, name: str) -> Values:
        """Return a column, computing it on first use; raises KeyError."""
        known = self._columns.get(name)
        if known is None and name in self._used:
            known = self._used[name]()
        if known is not None:
            return known
        column, make = self._later[name]
        values = make()
        if len(values) != self._length:
            raise ValueError(
                f"column {self.table.name}.{name} has {len(values)} rows, not {self._length}"
            )
        values = _declared(self.table, column, values, self._length)
        if isinstance(make, Again):
            self._used[name] = ref(values)
            return values
        # What makes it is let go, with what it holds.
        self._columns[name] = values
        del self._later[name]
        return values

    @classmethod
    def of_records(cls, table: Table, records: Sequence[Mapping[str, Any]]) -> Rows:
        """Return rows given one by one; None is null."""
        found: dict[str, Values] = {}
        for column in table.columns:
            values = [record.get(column.name) for record in records]
            if not column.null and any(value is None for value in values):
                raise ValueError(f"column {table.name}.{column.name} is null but must not be")
            found[column.name] = _from_objects(column, values)
        return cls(table, found)

    @classmethod
    def of_frame(cls, table: Table, frame: pd.DataFrame) -> Rows:
        """Return the rows of a frame of the table's columns, or of some of them."""
        found: dict[str, Values] = {}
        for column in table.columns:
            if column.name in frame:
                series = frame[column.name]
                kind = column.dtype
                if kind == "string":
                    codes, words = series.astype(object).factorize()
                    found[column.name] = Coded(codes.astype(np.int64), tuple(map(str, words)))
                elif kind == "int64":
                    found[column.name] = series.astype("Int64").fillna(NONE).to_numpy(np.int64)
                elif kind == "bool" and column.null:
                    flags = series.astype("boolean").astype("Int8").fillna(NONE)
                    found[column.name] = flags.to_numpy(np.int8)
                else:
                    found[column.name] = series.to_numpy(_DTYPES[kind])
        return cls(table, found)

    @classmethod
    def none(cls, table: Table) -> Rows:
        """Return a table without rows."""
        return cls.of_records(table, [])

    def __len__(self) -> int:
        return self._length

    def __contains__(self, name: object) -> bool:
        return name in self._columns or name in self._later

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column of numbers or flags; raises KeyError, and TypeError for text."""
        values = self._values(name)
        if isinstance(values, Coded):
            raise TypeError(f"{self.table.name}.{name} is text: ask for its words")
        return values

    def words(self, name: str) -> Coded:
        """Return a column of text; raises KeyError, and TypeError for numbers."""
        values = self._values(name)
        if not isinstance(values, Coded):
            raise TypeError(f"{self.table.name}.{name} is no text")
        return values

    def texts(self, name: str) -> Objects:
        """Return the text of each row of a column as an object; None for null."""
        return self.words(name).texts()

    def there(self, name: str) -> Flags:
        """Return which rows of a column that may be null have a value."""
        values = self._values(name)
        if isinstance(values, Coded):
            return np.asarray(values.codes != NONE, bool)
        if values.dtype.kind == "f":
            return np.asarray(~np.isnan(values), bool)
        return np.asarray(values != NONE, bool)

    def take(self, rows: Ints | Flags) -> Rows:
        """Return some rows, by number or by mask."""
        columns: dict[str, Values | Later] = {
            name: _taken(values, rows) for name, values in self._columns.items()
        }
        for name, (_, make) in self._later.items():
            taken = partial(_taken_later, make, rows)
            columns[name] = Again(taken) if isinstance(make, Again) else taken
        return Rows(self.table, columns)

    def with_columns(self, columns: Mapping[str, Values]) -> Rows:
        """Return the rows with some columns replaced."""
        later = {name: make for name, (_, make) in self._later.items()}
        return Rows(self.table, {**self._columns, **later, **columns})

    def record(self, row: int) -> dict[str, Any]:
        """Return one row as Python values by column; None is null."""
        return {column.name: self._value(column, row) for column in self.table.columns}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as `record` does: for tables of few rows."""
        names = self.table.names
        columns = [self._listed(column) for column in self.table.columns]
        return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values of each row in the order of the columns; None is null."""
        for begin in range(0, self._length, _LINES):
            part = self.take(np.arange(begin, min(begin + _LINES, self._length)))
            yield from zip(*(part._listed(column) for column in self.table.columns), strict=True)

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame of the declared dtypes; text is categories."""
        import pandas as pd

        out: dict[str, Any] = {}
        for column in self.table.columns:
            values = self._values(column.name)
            if isinstance(values, Coded):
                out[column.name] = _categories(values)
            elif column.null and column.dtype == "bool":
                out[column.name] = pd.array(values == 1, dtype="boolean")
                out[column.name][values == NONE] = pd.NA
            elif column.null and values.dtype.kind != "f":
                series = pd.Series(values).astype(column.pandas_dtype)  # type: ignore[call-overload]
                out[column.name] = series.mask(values == NONE)
            else:
                out[column.name] = values
        return pd.DataFrame(out, index=range(self._length))

    def _listed(self, column: Column) -> list[Any]:
        values = self._values(column.name)
        if isinstance(values, Coded):
            return list(values.texts())
        plain = values.astype(bool) if column.dtype == "bool" else values
        listed: list[Any] = plain.tolist()
        if column.null:
            known = self.there(column.name).tolist()
            listed = [value if there else None for value, there in zip(listed, known, strict=True)]
        return listed

    def _value(self, column: Column, row: int) -> Any:
        values = self._values(column.name)
        if isinstance(values, Coded):
            return values.at(row)
        value = values[row].item()
        if not column.null:
            return value
        if column.dtype == "float64":
            return None if value != value else value
        if value == NONE:
            return None
        return bool(value) if column.dtype == "bool" else value


def _categories(column: Coded) -> pd.Categorical:
    """Return text as categories in the order of the words, so that it sorts as text does."""
    import pandas as pd

    ranks = column.ranks()
    # Words that no row has are no categories.
    used, codes = np.unique(ranks[ranks != NONE], return_inverse=True)
    full = np.full(len(column), NONE, np.int64)
    full[ranks != NONE] = codes
    words = sorted(column.words)
    return pd.Categorical.from_codes(full, pd.Index([words[rank] for rank in used], dtype="str"))


_DTYPES: dict[str, type[np.generic]] = {
    "int64": np.int64,
    "uint64": np.uint64,
    "float64": np.float64,
    "bool": np.bool_,
}


def _taken(values: Values, rows: Ints | Flags) -> Values:
    return values.take(rows) if isinstance(values, Coded) else taken(values, rows)


def first_known(*columns: Ints) -> Ints:
    """Return for each row the first value that is not null (-1) of these columns, else null."""
    *before, known = columns
    for column in reversed(before):
        known = np.where(column == NONE, known, column)
    return known


def taken(values: npt.NDArray[Any], rows: Ints | Flags) -> npt.NDArray[Any]:
    """Return `values[rows]`; of a column that is one number in memory, one again."""
    if values.strides == (0,) and len(values):
        count = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        return np.broadcast_to(values[0], count)
    return np.asarray(values[rows])


def _taken_later(make: Later, rows: Ints | Flags) -> Values:
    return _taken(make(), rows)


def _declared(table: Table, column: Column, values: Values | None, length: int) -> Values:
    if values is None:
        if not column.null and length:
            raise ValueError(f"column {table.name}.{column.name} is absent but is never null")
        return _nulls(column, length)
    if column.dtype == "string":
        if not isinstance(values, Coded):
            return Coded.of(values.tolist())
        return values
    if isinstance(values, Coded):
        raise TypeError(f"column {table.name}.{column.name} is {column.dtype}, not text")
    if column.dtype == "int64" and values.dtype.kind == "f":
        raise ValueError(f"column {table.name}.{column.name}: integers went through floats")
    wanted = np.int8 if column.dtype == "bool" and column.null else _DTYPES[column.dtype]
    return values.astype(wanted, copy=False)


def _nulls(column: Column, length: int) -> Values:
    if column.dtype == "string":
        return Coded(nulls(length), ())
    if column.dtype == "float64":
        return np.broadcast_to(np.float64(np.nan), length)
    if column.dtype == "bool":
        return np.broadcast_to(np.int8(NONE), length)
    return nulls(length)


def _from_objects(column: Column, values: list[Any]) -> Values:
    if column.dtype == "string":
        return Coded.of(None if value is None else str(value) for value in values)
    if column.dtype == "float64":
        return np.asarray([np.nan if value is None else value for value in values], np.float64)
    if column.dtype == "bool" and column.null:
        return np.asarray([NONE if value is None else value for value in values], np.int8)
    filled = [NONE if value is None else value for value in values]
    return np.asarray(filled, _DTYPES[column.dtype])
