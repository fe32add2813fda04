# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A results directory: what was found in a long recording, in Parquet files that grow in number.

    results.json              what it is of, its parts, and what was counted in all
    parts/L-NNNNNN/TABLE.parquet

Each analyzed trace chunk adds a part of level L = 0. Where `_MERGED` parts of one level have come
together, they become one of the next, so that there are few files however long it grows. What was
merged is removed with the next merge: readers have opened it before the merge.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from strata.documents import DocumentError, decode, parse_json, read_bytes
from strata.errors import TraceError
from strata.lazy import pyarrow as pa
from strata.marks import RESULTS, RESULTS_FORMAT
from strata.schema.version import VERSION

PARTS = "parts"
_MERGED = 16
_MOST_MERGED_BYTES = 4 << 30
_MOST_BYTES = 64 << 20
_ROWS_AT_ONCE = 1 << 17


@dataclass
class Contents:
    """What `results.json` says.

    `session` is where the recording was, `recording` the name of its LTTng session (empty when not
    known), `machine` a description. Times are ns since the epoch, null before the first window.
    `until_ns` is how far everything was counted, `next_numbers` are the numbers of the next row of
    each table. `last_chunk` is the number of the last chunk that was analyzed, null before.
    `complete`: the recording has ended, and all of it was counted.
    """

    session: str
    recording: str = ""
    machine: str = ""
    parts: list[str] = field(default_factory=list)
    windows: int = 0
    last_chunk: int | None = None
    begin_ns: int | None = None
    end_ns: int | None = None
    until_ns: int | None = None
    next_numbers: dict[str, int] = field(default_factory=dict)
    complete: bool = False


class ResultsDirectory:
    """A results directory that is there; see `open_results`."""

    def __init__(self, path: Path, contents: Contents) -> None:
        self.path, self.contents = path, contents

    def read(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of a table, all parts one after the other; text is a dictionary.

        A table of which there is no row has no column. Raises TraceError.
        """
        with self._errors():
            return _joined([_read(file, columns) for file in self._files(table)])

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise TraceError(
                f"Cannot read {self.path}: {error.filename} is not there any more. It grows while "
                "the recording goes on: try again. If that does not help, make the results again "
                "with `strata results`."
            ) from error
        except (OSError, pa.ArrowException) as error:
            raise TraceError(
                f"Cannot read {self.path}: {error}. Check the disk, or make the results again with "
                "`strata results`."
            ) from error

    def read_newest(self, table: str, columns: Sequence[str], rows: int) -> pa.Table:
        """Return the newest rows of a table, about so many, as `read`. Raises TraceError."""
        found: list[pa.Table] = []
        with self._errors():
            for file in reversed(list(self._files(table))):
                found[:0] = _read_end(file, columns, rows - sum(map(len, found)))
                if sum(map(len, found)) >= rows:
                    break
        return _joined(found)

    def rows(self) -> dict[str, int]:
        """Return how many rows each table has, by name. Raises TraceError."""
        import pyarrow.parquet as pq

        found: Counter[str] = Counter()
        with self._errors():
            for part in self.contents.parts:
                for file in (self.path / PARTS / part).iterdir():
                    with file.open("rb") as opened:
                        found[file.stem] += pq.ParquetFile(opened).metadata.num_rows
        return dict(sorted(found.items()))

    @property
    def size(self) -> int:
        """Bytes of all its parts."""
        return sum(_size(self.path / PARTS / part) for part in self.contents.parts)

    def _files(self, table: str) -> Iterable[Path]:
        for part in self.contents.parts:
            place = self.path / PARTS / part
            file = place / f"{table}.parquet"
            if file.is_file():
                yield file
            elif not place.is_dir():
                raise FileNotFoundError(2, "no such directory", str(place))


def is_results(path: Path) -> bool:
    """Return whether a directory is one of results."""
    return (path / RESULTS).is_file()


def open_results(path: Path) -> ResultsDirectory:
    """Open a results directory. Raises TraceError."""
    return ResultsDirectory(path, _read_contents(path))


def add_part(
    directory: ResultsDirectory, tables: Mapping[str, pa.Table], contents: Contents
) -> None:
    """Add the rows of a window, and say so in `results.json`. Raises OSError.

    `contents` are the new ones, but for the new part.
    """
    place = directory.path / PARTS
    name = f"0-{contents.windows:06d}"
    fresh = place / f".{name}"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for table, rows in tables.items():
        if len(rows):
            _write(fresh / f"{table}.parquet", rows.schema, [rows])
    shutil.rmtree(place / name, ignore_errors=True)
    fresh.rename(place / name)
    parts = [*directory.contents.parts, name]
    write_contents(directory, replace(contents, parts=parts, windows=contents.windows + 1))
    _merge(directory)


def write_contents(directory: ResultsDirectory, contents: Contents) -> None:
    """Replace `results.json`, in one step. Raises OSError."""
    document = {"format": RESULTS_FORMAT, "schema": VERSION, **asdict(contents)}
    fresh = directory.path / f".{RESULTS}"
    fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    fresh.replace(directory.path / RESULTS)
    directory.contents = contents


def _merge(directory: ResultsDirectory) -> None:
    """Merge the newest parts where enough of one level have come together."""
    place = directory.path / PARTS
    merged: set[str] = set()
    while last := _mergeable(directory):
        level, _, number = last[0].partition("-")
        name = f"{int(level) + 1}-{number}"
        fresh = place / f".{name}"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        for table in sorted({file.name for part in last for file in (place / part).iterdir()}):
            files = [place / part / table for part in last]
            _merge_files([file for file in files if file.is_file()], fresh / table)
        shutil.rmtree(place / name, ignore_errors=True)
        fresh.rename(place / name)
        parts = [*directory.contents.parts[:-_MERGED], name]
        write_contents(directory, replace(directory.contents, parts=parts))
        merged.update(last)
    if merged:
        used = merged.union(directory.contents.parts)
        for part in place.iterdir():
            if part.name not in used:
                shutil.rmtree(part, ignore_errors=True)


def _mergeable(directory: ResultsDirectory) -> list[str]:
    """Return the newest parts if they are to become one, else none."""
    last = directory.contents.parts[-_MERGED:]
    levels = {part.partition("-")[0] for part in last}
    if len(last) < _MERGED or len(levels) > 1:
        return []
    size = sum(_size(directory.path / PARTS / part) for part in last)
    return last if size <= _MOST_MERGED_BYTES else []


def _merge_files(files: Sequence[Path], target: Path) -> None:
    """Put files of one table one after the other, some rows at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(files[0]) as first:
        schema = first.schema_arrow

    def rows() -> Iterable[pa.Table]:
        for file in files:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(_ROWS_AT_ONCE):
                    yield pa.Table.from_batches([batch])

    _write(target, schema, rows())


def _write(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    import pyarrow.parquet as pq

    # Opened here: pyarrow takes no path that is not UTF-8.
    with path.open("wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)


def _read(file: Path, columns: Sequence[str]) -> pa.Table:
    import pyarrow.parquet as pq

    with file.open("rb") as opened, pq.ParquetFile(opened) as parquet:
        texts = [one.name for one in parquet.schema_arrow if pa.types.is_string(one.type)]
    with file.open("rb") as opened, pq.ParquetFile(opened, read_dictionary=texts) as parquet:
        return parquet.read(list(columns))


def _read_end(file: Path, columns: Sequence[str], rows: int) -> list[pa.Table]:
    """Return the last groups of rows of a file that have so many rows, or all."""
    import pyarrow.parquet as pq

    with file.open("rb") as opened, pq.ParquetFile(opened) as parquet:
        texts = [one.name for one in parquet.schema_arrow if pa.types.is_string(one.type)]
        sizes = [parquet.metadata.row_group(at).num_rows for at in range(parquet.num_row_groups)]
    first = len(sizes)
    while first and sum(sizes[first:]) < rows:
        first -= 1
    with file.open("rb") as opened, pq.ParquetFile(opened, read_dictionary=texts) as parquet:
        return [parquet.read_row_groups(list(range(first, len(sizes))), list(columns))]


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    if not tables:
        return pa.table({})
    return pa.concat_tables(tables).unify_dictionaries()


def _size(part: Path) -> int:
    return sum(file.stat().st_size for file in part.iterdir())


def _read_contents(path: Path) -> Contents:
    file = path / RESULTS
    try:
        return _checked(parse_json(decode(read_bytes(file, _MOST_BYTES))))
    except OSError as error:
        raise TraceError(
            f"Cannot read {file}: {error.strerror}. Check its permissions and the disk."
        ) from error
    except (DocumentError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TraceError(
            f"Cannot read {file}: not in the form that Strata writes ({error}). Make the results "
            "again with `strata results`."
        ) from error


def _checked(document: dict[str, Any]) -> Contents:
    form, schema = document.pop("format"), document.pop("schema")
    if form != RESULTS_FORMAT:
        raise ValueError("it is of another program")
    if schema != VERSION:
        raise ValueError(f"its tables are of version {schema}, and {VERSION} is read")
    return Contents(**document)
