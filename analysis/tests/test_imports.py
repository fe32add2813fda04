# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Imports go one way: a stage knows those before it, never those after it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import strata

PACKAGE = Path(strata.__file__).parent

# Each room and what it may import of Strata beside itself. `analysis` is the vocabulary of results.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "units": set(),
    "lazy": set(),
    "symbols": set(),
    "printable": set(),
    "nearest": set(),
    "documents": {"errors", "printable"},
    "yaml_document": {"documents", "printable"},
    "marks": {"documents"},
    "masking": set(),
    "schema": {"errors"},
    "analysis": {"schema"},
    "read": {
        "lazy",
        "nearest",
        "errors",
        "schema",
        "printable",
        "documents",
        "yaml_document",
        "marks",
    },
    "record": {
        "lazy",
        "nearest",
        "errors",
        "schema",
        "units",
        "documents",
        "yaml_document",
        "marks",
        "masking",
    },
    "scenario": {"errors", "record", "printable", "masking", "documents", "yaml_document"},
    "engine": {"lazy", "errors", "schema", "read", "units"},
    "model": {"lazy", "errors", "schema", "read", "engine", "units"},
    "layers": {"lazy", "errors", "schema", "read", "engine", "model", "units"},
    "stats": {
        "lazy",
        "errors",
        "schema",
        "engine",
        "model",
        "layers",
        "analysis",
        "units",
        "symbols",
    },
    "verdict": {"schema", "engine", "model", "analysis", "stats", "units", "symbols"},
    "timeline": {
        "lazy",
        "errors",
        "schema",
        "engine",
        "analysis",
        "stats",
        "verdict",
        "symbols",
    },
    "originals": {"documents", "errors", "stats", "units"},
    "comparison": {
        "lazy",
        "documents",
        "yaml_document",
        "errors",
        "schema",
        "analysis",
        "model",
        "stats",
        "units",
        "symbols",
        "printable",
        "pipeline",
        "read",
    },
    "campaign": {
        "errors",
        "record",
        "scenario",
        "masking",
        "documents",
        "yaml_document",
    },
    "study": {
        "errors",
        "schema",
        "analysis",
        "record",
        "pipeline",
        "read",
        "model",
        "stats",
        "originals",
        "campaign",
        "units",
        "marks",
        "documents",
    },
    "show": {
        "nearest",
        "errors",
        "schema",
        "analysis",
        "read",
        "model",
        "stats",
        "verdict",
        "comparison",
        "study",
        "timeline",
        "live",
        "units",
        "symbols",
        "printable",
        "marks",
    },
    "export": {
        "lazy",
        "errors",
        "schema",
        "engine",
        "analysis",
        "read",
        "stats",
        "verdict",
        "timeline",
        "show",
        "units",
        "symbols",
        "printable",
        "marks",
    },
    "pipeline": {
        "nearest",
        "errors",
        "schema",
        "engine",
        "analysis",
        "read",
        "model",
        "layers",
        "stats",
        "verdict",
        "printable",
    },
    "api": {
        "lazy",
        "nearest",
        "errors",
        "schema",
        "analysis",
        "read",
        "export",
        "stats",
        "show",
        "pipeline",
        "printable",
        "symbols",
        "units",
        "timeline",
    },
    # What goes on while processes run: it records, and reads at once.
    "live": {
        "errors",
        "schema",
        "analysis",
        "read",
        "record",
        "engine",
        "model",
        "layers",
        "pipeline",
        "verdict",
    },
    # It analyzes a recording chunk by chunk.
    "results": {
        "errors",
        "schema",
        "read",
        "record",
        "engine",
        "model",
        "layers",
        "stats",
        "pipeline",
        "live",
        "printable",
    },
    # It watches what is recorded by conditions of a file, and explains what it keeps.
    "guard": {
        "errors",
        "schema",
        "analysis",
        "read",
        "record",
        "engine",
        "model",
        "layers",
        "stats",
        "verdict",
        "pipeline",
        "comparison",
        "live",
        "units",
        "symbols",
        "printable",
        "documents",
        "yaml_document",
    },
    "sql": {"lazy", "nearest", "errors", "schema", "analysis", "api", "read"},
    "cli": {
        "guard",
        "results",
        "lazy",
        "live",
        "api",
        "nearest",
        "campaign",
        "study",
        "errors",
        "schema",
        "analysis",
        "record",
        "scenario",
        "pipeline",
        "read",
        "stats",
        "comparison",
        "show",
        "export",
        "originals",
        "units",
        "printable",
        "documents",
        "sql",
    },
}


def imports(path: Path) -> set[str]:
    """Rooms of Strata that a module imports, wherever in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "strata":
                names = [f"strata.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "strata" and len(parts) > 1:
                rooms.add(parts[1])
    # `from strata import analyze` is the API; `__version__` is no room.
    return {"api" if room == "analyze" else room for room in rooms} - {"__version__"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE) + sorted(
        path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")
    )


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_comes_before_it(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert imports(path) <= ALLOWED[room] | {room}


def test_every_room_is_known() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in modules()}
    assert rooms == set(ALLOWED)


def test_test_modules_have_names_of_their_own() -> None:
    """pytest imports a test module by its name alone: two of one name cannot be collected."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
