# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every notebook of docs/notebooks runs, draws what it says it draws, and its text is right.

A notebook runs in a kernel of this interpreter, in a copy of the directories that it expects:
docs/notebooks, and analysis/tests/traces beside it. Nothing is registered for the user, and the
kernel is reached over sockets in a directory of its own.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from claims import CLAIMS, GIVEN
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "docs/notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.md") if path.stem != "README")
KERNEL = "this-interpreter"
FIGURE = "application/vnd.bokehjs_exec.v0+json"
QUANTITY = re.compile(r"-?\d[\d.,]*\s(?:ns|us|ms|s|%|kB|MB|KiB|MiB|Hz)(?!\w)")
MOST_SECONDS = 120

Notebook = Any
Executed = Callable[[str], Notebook]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executed]:
    """Run a notebook by name, once; its last cell holds what its claims were computed to be."""
    # Paths of sockets may have no more than 107 characters: pytest's own directories are too long.
    with tempfile.TemporaryDirectory(prefix="nb") as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", f"{place}/ipython")
        patch.setenv("JUPYTER_CONFIG_DIR", f"{place}/config")
        patch.setenv("JUPYTER_RUNTIME_DIR", f"{place}/runtime")

        @cache
        def run(name: str) -> Notebook:
            notebook = read(name)
            notebook.cells.append(nbformat.v4.new_code_cell(_computation(name)))
            manager = AsyncKernelManager(
                kernel_name=KERNEL,
                kernel_spec_manager=_kernels(Path(place)),
                transport="ipc",
                connection_file=f"{place}/{name}",
            )
            client = NotebookClient(
                notebook,
                km=manager,
                timeout=MOST_SECONDS,
                resources={"metadata": {"path": str(_tree(tmp_path_factory.mktemp(name)))}},
            )
            client.execute()
            return notebook

        yield run


def read(name: str) -> Notebook:
    return jupytext.read(NOTEBOOKS / f"{name}.md")


def _kernels(place: Path) -> KernelSpecManager:
    """Kernels of which there is one: the interpreter that runs the tests."""
    spec = place / "kernels" / KERNEL
    spec.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": KERNEL}))
    return KernelSpecManager(kernel_dirs=[str(spec.parent)])


def _tree(root: Path) -> Path:
    """Make the directories that a notebook expects, and return the one that it runs in."""
    (root / "docs/notebooks").mkdir(parents=True)
    (root / "sessions").mkdir()
    (root / "analysis/tests").mkdir(parents=True)
    (root / "analysis/tests/traces").symlink_to(ROOT / "analysis/tests/traces")
    return root / "docs/notebooks"


def _computation(name: str) -> str:
    found = ", ".join(f"{phrase!r}: {expression}" for phrase, expression in CLAIMS[name])
    return (
        "import json\n"
        "from strata.units import format_ns, format_share\n"
        f"print(json.dumps({{{found}}}))"
    )


def code(notebook: Notebook) -> list[Notebook]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(name: str) -> str:
    cells = [cell.source for cell in read(name).cells if cell.cell_type == "markdown"]
    text = re.sub(r"^```.*?^```", "", "\n".join(cells), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\s+", " ", text)


def test_all_notebooks_are_listed() -> None:
    assert len(NAMES) == 5
    assert set(CLAIMS) == set(GIVEN) == set(NAMES)
    listed = re.findall(r"\]\(([\w-]+)\.md\)", (NOTEBOOKS / "README.md").read_text())
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_names_its_kernel_and_has_no_outputs(name: str) -> None:
    notebook = read(name)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert all(not cell.outputs for cell in code(notebook))
    # What is shown first on a page is the title, not the header.
    assert notebook.cells[0].source.startswith("# ")


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_shows_what_it_says(executed: Executed, name: str) -> None:
    cells = code(executed(name))[:-1]
    assert len(cells) >= 8
    for cell in cells:
        data = [output.get("data", {}) for output in cell.outputs]
        shown = sum(FIGURE in one for one in data)
        assert shown == cell.source.count("show("), cell.source
        streams = [output for output in cell.outputs if output.output_type == "stream"]
        assert [one.text for one in streams if one.name == "stderr"] == []
        assert bool(streams) == ("print(" in cell.source), cell.source
        assert all(one.text.strip() for one in streams)
        last = ast.parse(cell.source).body[-1]
        if isinstance(last, ast.Expr) and not shown and not streams:
            assert any("text/plain" in one for one in data), cell.source


@pytest.mark.parametrize("name", NAMES)
def test_figures_in_the_text_are_those_computed(executed: Executed, name: str) -> None:
    computed = json.loads(code(executed(name))[-1].outputs[0].text)
    assert computed == {phrase: phrase for phrase, _ in CLAIMS[name]}
    text = prose(name)
    assert [phrase for phrase in computed if phrase not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_figure_is_in_the_text_unchecked(name: str) -> None:
    known = {found for phrase, _ in CLAIMS[name] for found in QUANTITY.findall(phrase)}
    text = re.sub(r"`[^`]*`", "X", prose(name))
    found = set(QUANTITY.findall(text))
    assert len(found) >= 4
    assert found - known - GIVEN[name] == set()
    assert GIVEN[name] - found == set()


@pytest.mark.parametrize("name", [*NAMES, "README"])
def test_links_lead_somewhere(name: str) -> None:
    path = NOTEBOOKS / f"{name}.md"
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if ":" not in link and not (path.parent / link).exists()] == []
