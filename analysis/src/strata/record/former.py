# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a former recording left in a directory, as opposed to the user's own files.

A name proves nothing: web applications have a manifest.json, too. What counts is the mark in
manifest.json (or in the recorder's state file), what the manifest lists, and the content of each
file. No link is followed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strata.documents import DocumentError, decode, parse_json, read_bytes
from strata.marks import (
    ANNOUNCED_FORMAT,
    foreign_entry,
    head,
    is_own_page,
    is_own_results,
    is_session,
    own_manifest,
    own_tables,
)
from strata.record.thread_sampler import SAMPLES, THREADS

MANIFEST = "manifest.json"
TRACE = "trace"
PERF_DATA = "perf.data"
THREAD_CPU = "thread_cpu"
SCENARIO = "scenario"
HOSTS = "hosts"
"""The sessions of other machines that the same run recorded, one directory a host."""

ANNOUNCED = "announced.json"
STATE = "recording.json"
CLEANUP = "CLEANUP.txt"
RECORDED = (HOSTS, TRACE, PERF_DATA, THREAD_CPU, SCENARIO, ANNOUNCED, CLEANUP, STATE, MANIFEST)
"""What a recording writes. Those that bear the mark come last: a removal that is stopped can be
begun again."""

CONVERTED = ("tables", "results", "parquet", "csv", "tracetools-analysis", "trace-compass")
"""Directories that `strata convert` and `strata export` write into a session, of any version."""

_PAGE = "report.html"
_RESULTS = "results"
# What an analysis that was killed left is in hidden directories and files.
_OF_RESULTS = re.compile(
    r"\.?results\.json|\.lock|parts/\.?\d+-\d+/\w+\.parquet|\.window/.*", re.DOTALL
)
_TREES = (TRACE, THREAD_CPU, SCENARIO)
_PARTIAL = re.compile(r"\.((manifest|recording)\.json\.\d+|strata-reserve)")
# What is kept of the parts that --max-size and --keep dropped (strata.read.rotated).
_DROPPED = "dropped.json"
_SAMPLES = (f"{THREAD_CPU}/{THREADS}", f"{THREAD_CPU}/{SAMPLES}")
_SAMPLES_BEGIN = b"thread,"
_STATE_BYTES = 1 << 20
# Of packets, of packets of metadata, and of LTTng's indexes; in either byte order.
_MAGICS = tuple(
    number.to_bytes(4, order)
    for number in (0xC1FC1FC1, 0x75D11D57, 0xC1F1DCC1)
    for order in ("little", "big")
)
# A machine that went down leaves pages that were never written.
_NEVER_WRITTEN = b"\0\0\0\0"


class NotOursError(Exception):
    """Something stands where a recording writes, and is not of one; `path` names it."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(why)
        self.path, self.why = path, why


@dataclass(frozen=True)
class Former:
    """A former recording's files in `directory`: `parts` are its top names, in order of removal.

    Each has its files and directories, what is inside first. `recorded` is false where there is no
    recording.
    """

    directory: Path
    recorded: bool
    parts: dict[str, list[Path]] = field(default_factory=dict)

    def remove(self) -> list[Path]:
        """Remove exactly these; returns the top ones. Raises OSError."""
        for paths in self.parts.values():
            for path in paths:
                if stat.S_ISDIR(path.lstat().st_mode):
                    path.rmdir()
                else:
                    path.unlink()
        return [self.directory / name for name in self.parts]


def find_former(directory: Path) -> Former:
    """Look for a former recording.

    Raises NotOursError when something of the user's stands where a recording would write, OSError
    when the directory cannot be read.
    """
    manifest = own_manifest(directory / MANIFEST)
    state = read_state_document(directory / STATE)
    known = manifest is not None or state is not None
    claims = _claims(manifest)
    looks: dict[str, Callable[[Path], list[Path]]] = {
        HOSTS: _hosts,
        TRACE: lambda path: _tree(path, claims, _is_ctf),
        PERF_DATA: lambda path: _file(path, PERF_DATA in claims and _is_perf_data(path)),
        THREAD_CPU: lambda path: _tree(path, claims, _is_of_sampler),
        SCENARIO: lambda path: _scenario(path, claims),
        ANNOUNCED: lambda path: _file(path, ANNOUNCED_FORMAT.encode() in (head(path, 512) or b"")),
        CLEANUP: lambda path: _file(path, b"strata" in (head(path, 512) or b"")),
        STATE: lambda path: _file(path, state is not None),
        MANIFEST: lambda path: _file(path, manifest is not None),
    }
    parts: dict[str, list[Path]] = {}
    if known:
        parts |= _added(directory)
    for name in RECORDED:
        path = directory / name
        if os.path.lexists(path):
            if not known:
                raise NotOursError(path, f"there is no {MANIFEST} of a recording next to it")
            parts[name] = looks[name](path)
    return Former(directory, known, parts)


def written_files(directory: Path, content: Mapping[str, Any]) -> list[str]:
    """List what a recording wrote, for its manifest: paths, and whole trees as `NAME/`.

    `content` is the manifest's: what the command put where another recording would have written
    is the user's. One that has not ended claims what it is going to write, too.
    """
    files, ended = [MANIFEST], "end" in content
    if content.get("session") is not None:
        if not ended or (directory / TRACE).is_dir():
            files.append(f"{TRACE}/")
        if _perf_recorded(content) and (not ended or (directory / PERF_DATA).is_file()):
            files.append(PERF_DATA)
        if content.get("announced") is not None:
            files.append(ANNOUNCED)
        files += [name for name in _SAMPLES if not ended or (directory / name).is_file()]
    scenario = directory / SCENARIO
    if not ended and scenario.is_dir():
        # The command did not run yet: it is what was prepared for `strata run`.
        files.append(f"{SCENARIO}/")
    elif SCENARIO in content and scenario.is_dir():
        files += sorted(str(one.relative_to(directory)) for one in _leaves(scenario))
    return files


def _perf_recorded(content: Mapping[str, Any]) -> bool:
    """Return whether perf recorded the kernel's events, or may be about to."""
    if "end" in content:
        return str(content.get("kernel_tracing", {}).get("recorded_by")).startswith("perf")
    return bool(content.get("config", {}).get("events", {}).get("kernel"))


def read_state_document(path: Path) -> dict[str, Any] | None:
    """Read a recorder's state file; null when there is none, or none of ours."""
    try:
        document = parse_json(decode(read_bytes(path, _STATE_BYTES, follow=False)))
    except (OSError, DocumentError):
        return None
    if not isinstance(document, dict) or not is_session(document.get("session")):
        return None
    return document


def _claims(manifest: dict[str, Any] | None) -> set[str]:
    """Give what a manifest lists; those of before the list, and killed recorders, claim trees."""
    listed = manifest.get("files") if manifest else None
    if isinstance(listed, list):
        return {one for one in listed if isinstance(one, str)}
    return {PERF_DATA, *(f"{name}/" for name in _TREES)}


def _added(directory: Path) -> dict[str, list[Path]]:
    """Find what other verbs wrote: by marks of their own; what has none is not touched."""
    found = {}
    for name in CONVERTED:
        tables = directory / name
        written = own_tables(tables) if not tables.is_symlink() else None
        if written is not None and foreign_entry(tables, written) is None:
            found[name] = [*_leaves(tables, with_directories=True), tables]
    results = directory / _RESULTS
    if not results.is_symlink() and is_own_results(results):
        leaves = _leaves(results)
        if all(_OF_RESULTS.fullmatch(str(one.relative_to(results))) for one in leaves):
            found[_RESULTS] = [*_leaves(results, with_directories=True), results]
    page = directory / _PAGE
    if is_own_page(page):
        found[_PAGE] = [page]
    found |= {
        one.name: [one]
        for one in directory.iterdir()
        if _PARTIAL.fullmatch(one.name) and _is_regular(one)
    }
    return found


def _file(path: Path, ours: bool) -> list[Path]:
    if not ours:
        raise NotOursError(path, _what(path))
    return [path]


def _tree(path: Path, claims: set[str], ours: Callable[[Path], bool]) -> list[Path]:
    """List a tree, what is inside first. Raises NotOursError for what is not claimed, or ours."""
    if path.is_symlink() or not path.is_dir() or path.is_mount():
        raise NotOursError(path, _what(path))
    base = path.parent
    found = []
    for one in _leaves(path, with_directories=True):
        if one.is_dir() and not one.is_symlink():
            if one.is_mount():
                raise NotOursError(one, _what(one))
        elif not _claimed(one.relative_to(base), claims) or not ours(one):
            raise NotOursError(one, _what(one))
        found.append(one)
    return [*found, path]


def _hosts(path: Path) -> list[Path]:
    if path.is_symlink() or not path.is_dir() or path.is_mount():
        raise NotOursError(path, _what(path))
    found = []
    for session in path.iterdir():
        if session.is_symlink() or not session.is_dir():
            raise NotOursError(session, _what(session))
        former = find_former(session)
        inside = [one for part in former.parts.values() for one in part]
        others = {*session.iterdir()} - {*inside}
        if not former.recorded or others:
            raise NotOursError(min(others, default=session), _what(min(others, default=session)))
        found += [*inside, session]
    return [*found, path]


def _scenario(path: Path, claims: set[str]) -> list[Path]:
    if not any(claim.startswith(f"{SCENARIO}/") for claim in claims):
        raise NotOursError(path, _what(path))
    plan = head(path / "plan.json", 1)
    if f"{SCENARIO}/" in claims and plan is None and path.is_dir() and any(path.iterdir()):
        raise NotOursError(path, "it has no plan.json of a run")
    return _tree(path, claims, lambda _: True)


def _claimed(path: Path, claims: set[str]) -> bool:
    return str(path) in claims or any(f"{parent}/" in claims for parent in path.parents)


def _leaves(path: Path, *, with_directories: bool = False) -> Iterator[Path]:
    """Walk a tree from its depths without following a link; links are leaves."""

    for place, directories, files in os.walk(path, topdown=False):
        whole = Path(place)
        links = [name for name in directories if (whole / name).is_symlink()]
        yield from (whole / name for name in (*files, *links))
        if with_directories:
            yield from (whole / name for name in directories if name not in links)


def _is_ctf(path: Path) -> bool:
    start = head(path, 6)
    if start is None:
        return False
    if path.name == _DROPPED and path.parent.name.startswith("names-"):
        return start.startswith(b"{")
    return not start or start.startswith((*_MAGICS, _NEVER_WRITTEN, b"/* CTF"))


def _is_of_sampler(path: Path) -> bool:
    start = head(path, len(_SAMPLES_BEGIN))
    known = f"{path.parent.name}/{path.name}" in _SAMPLES
    return known and start in (b"", _SAMPLES_BEGIN, bytes(len(_SAMPLES_BEGIN)))


def _is_perf_data(path: Path) -> bool:
    start = head(path, 8)
    return start is not None and (not start or start in (b"PERFILE2", bytes(8)))


def _is_regular(path: Path) -> bool:
    return stat.S_ISREG(path.lstat().st_mode)


def _what(path: Path) -> str:
    """Say what a path is, of those things that no recording makes."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "it is a link"
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        return "it is neither a file nor a directory"
    if path.is_dir() and path.is_mount():
        return "it is a mount point"
    return "no Strata recording wrote it"
