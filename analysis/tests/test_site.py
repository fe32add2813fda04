# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site builds, and nothing in it is loaded from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from strata.cli import manual, reference, topics
from strata.export.formats import FORMATS

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "docs/site/mkdocs.yml"


def _build(configuration: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", target]
    return subprocess.run(
        [*command, "--config-file", configuration], capture_output=True, text=True, timeout=240
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    built = _build(CONFIGURATION, target)
    assert built.returncode == 0, built.stderr
    return target


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = [
        path for path in (ROOT / "docs").rglob("*.md") if "site" not in path.relative_to(ROOT).parts
    ]
    assert len(pages) > 30
    for path in pages:
        # A README is the first page of its directory.
        named = path.with_stem("index") if path.stem == "README" else path
        assert (site / named.relative_to(ROOT / "docs").with_suffix(".html")).is_file(), path
    for topic in topics.TOPICS:
        assert (site / f"repository/analysis/src/strata/help/{topic}.html").is_file()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?https?:|<link\b[^>]*\brel=\"?(?:stylesheet|"
        r"preconnect|icon)\"?[^>]*\bhref=\"?https?:|@import\s+url\(\"?https?:"
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 40
    assert [page.name for page in pages if loaded.search(page.read_text())] == []


def test_public_names_are_in_the_python_reference(site: Path) -> None:
    import strata

    text = (site / "reference/python.html").read_text()
    assert [name for name in strata.__all__ if f".{name}" not in text] == []


@pytest.mark.parametrize("link", ["nowhere.md", "method.md#no-such-heading"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    docs = tmp_path / "docs"
    (docs / "site").mkdir(parents=True)
    (docs / "index.md").write_text(f"# Index\n\n[a link]({link})\n")
    (docs / "method.md").write_text("# Method\n")
    shutil.copy(CONFIGURATION.with_name("hooks.py"), docs / "site")
    text, _, _ = CONFIGURATION.read_text().partition("\nnav:")
    (docs / "site/mkdocs.yml").write_text(text)
    built = _build(docs / "site/mkdocs.yml", tmp_path / "out")
    assert built.returncode != 0
    assert link.partition("#")[0] in built.stderr


def test_the_page_of_verbs_is_generated() -> None:
    # In a process of its own: click keeps the names of a command's option of help, which are others
    # where a test ran the command without its group.
    words = [sys.executable, "-m", "strata.cli.reference", "--check", ROOT / "docs/reference"]
    subprocess.run(words, check=True)


def test_the_man_page_has_every_option_and_topic_and_renders(tmp_path: Path) -> None:
    text = manual.page()
    for name, command in reference.commands():
        assert name.replace("-", r"\-") in text
        for names, _ in reference.options(command):
            assert names.replace("-", r"\-") in text
    for topic in topics.TOPICS:
        assert f".SH {topic.upper()}" in text
    page = tmp_path / "strata.1"
    page.write_text(text)
    command = ["groff", "-man", "-Tutf8", "-ww", page]
    rendered = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "STRATA(1)" in rendered.stdout
    assert [line for line in rendered.stderr.splitlines() if "macro" in line] == []


def test_the_page_of_speed_has_the_figures_of_the_measured_pages() -> None:
    rows = re.findall(r"^\|.*\|$", (ROOT / "docs/speed.md").read_text(), re.MULTILINE)[2:]
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        page = (ROOT / "docs" / re.findall(r"\]\((.*?)\)", cells[2])[0]).read_text()
        figures = re.findall(r"`([\d.]+)`", cells[1])
        assert figures
        for figure in figures:
            assert re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d.])", page), (figure, row)


def test_the_man_page_lists_every_format() -> None:
    text = manual.page()
    for form in FORMATS:
        assert f".B {form.name.replace('-', chr(92) + '-')}" in text
