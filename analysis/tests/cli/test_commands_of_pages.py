# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every `strata` line of every page: its verb and options exist; those that read traces are run.

The tutorial, the how-to pages and the pages on moving over are followed whole by other tests
(live/test_live_pages.py, api/test_migration_pages.py); what records is run by the live tests.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from page_commands import commands

from strata.cli.main import strata

ROOT = Path(__file__).parents[3]
PAGES = [
    *sorted(
        page
        for place in ("docs", "launch", "trace_configs", "tracing_ws/src")
        for page in (ROOT / place).rglob("*.md")
    ),
    ROOT / "README.md",
    ROOT / "tracing_ws/README.md",
    *sorted((ROOT / "analysis/src/strata/help").glob("*.md")),
]
_FENCE = re.compile(
    rf"(?P<mark>{commands.NOT_RUN}\n+)?^```(?P<kind>\w*)$\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_PROGRAM = re.compile(
    r"^(?:\$ )?(?:(?:\.venv/bin/)?strata|make|ros2|pip|git|docker|colcon) ", re.MULTILINE
)
FOLLOWED = ("docs/tutorial.md", "docs/how-to/", "docs/from-caret.md")
SAMPLE = "dds_jazzy_udp_resends"
RECORDS = {"record", "run", "campaign"}
# Names of other things, in sentences, that begin like a command.
OTHER_NAMES = ("findings", "recording")
# What a page calls a recording or a chain that a reader has.
NAMES = {
    "sessions/mine",
    "sessions/other",
    "sessions/before",
    "sessions/after",
    "sessions/a",
    "sessions/b",
    "sessions/c",
    "sessions/$profile",
    "sessions/polled_1280",
    "sessions/NAME",
    "main-session",
    "my-session",
    "TRACE",
    "BEFORE",
    "AFTER",
    "A",
    "B",
}
CHAIN = {"/a -> /b": "/chain_0 -> /chain_1"}


def _others(page: Path) -> Iterator[re.Match[str]]:
    """Yield the fences of a page that are neither commands that can be run nor their output."""
    for fence in _FENCE.finditer(page.read_text()):
        if fence["kind"] not in ("sh", "output"):
            yield fence


def _lines(page: Path) -> Iterator[tuple[str, bool]]:
    """Yield the commands of a page and whether they can run; one may go over several lines."""
    shown = [(block.command, commands.can_run(block)) for block in commands.blocks(page)]
    for other in _others(page):
        begun = "\n".join(re.findall(r"^\$ ((?:.*\\\n)*.*)", other["text"], re.MULTILINE))
        shown.append((begun, False))
    for text, can_run in shown:
        begun = ""
        for line in text.replace("\\\n", " ").splitlines():
            begun += line
            try:
                shlex.split(begun, comments=True)
            except ValueError:
                begun += "\n"
                continue
            yield begun, can_run
            begun = ""
        assert not begun, f"{page}: a quotation is not closed in {begun}"


def _words(line: str) -> list[str] | None:
    """Return the words behind `strata` in a line; null when it calls another program."""
    words = shlex.split(line, comments=True)
    if not words or Path(words[0]).name != "strata":
        return None
    ends = [at for at, word in enumerate(words) if word in ("|", ">", "||", "&&")]
    return words[1 : min(ends, default=len(words))]


COMMANDS = [
    pytest.param(page, words, can_run, id=f"{page.relative_to(ROOT)}: {shlex.join(words)}"[:90])
    for page in PAGES
    for line, can_run in _lines(page)
    if (words := _words(line.strip())) is not None
]


def _command(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """Return the verb that words call, in its context, and the words behind it."""
    command: click.Command = strata
    context = click.Context(command)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"a verb that does not exist: {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    return command, context, words


@pytest.mark.parametrize(("page", "words", "can_run"), COMMANDS)
def test_its_verb_and_options_exist(page: Path, words: list[str], can_run: bool) -> None:
    del page, can_run
    command, context, words = _command(words)
    command.make_parser(context).parse_args(args=list(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_verbs_and_options_in_sentences_exist(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for inline in re.findall(r"`(?:\.venv/bin/)?strata ([a-z][^`]*)`", text):
        words = " ".join(inline.split()).partition(" -- ")[0].split()
        if words[0] in OTHER_NAMES:
            continue
        command, context, words = _command(words)
        known = {name for one in command.get_params(context) for name in one.opts}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known | {"--help"}, inline


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_fence_with_commands_is_run_or_says_why_not(page: Path) -> None:
    if page.is_relative_to(ROOT / "docs/reference"):
        return
    for fence in _others(page):
        assert fence["mark"] or not _PROGRAM.search(fence["text"]), fence["text"]


def _reads(page: Path, words: list[str], can_run: bool) -> bool:
    followed = page.relative_to(ROOT).as_posix().startswith(FOLLOWED)
    records = words[0] in RECORDS and words[:2] != ["campaign", "list"]
    return can_run and not followed and not records


@pytest.fixture(scope="module")
def desk(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Path]:
    """Give a directory as a reader has it: recordings under the names of the pages, and gates."""
    source = sample(SAMPLE)

    def made() -> Path:
        place = tmp_path_factory.mktemp("desk")
        for name in NAMES:
            shutil.copytree(source, place / name)
        (place / "gates.yaml").write_text("gates:\n  - chain p50 < 20 s\n")
        (place / "links.yaml").write_text("links: []\n")
        return place

    return made


@pytest.mark.parametrize(
    ("page", "words", "can_run"),
    [one for one in COMMANDS if _reads(*one.values)],  # type: ignore[arg-type]
)
def test_what_reads_is_run(
    page: Path, words: list[str], can_run: bool, desk: Callable[[], Path]
) -> None:
    del page, can_run
    place = desk()
    words = [re.sub("^DIR$", "made", CHAIN.get(word, word)) for word in words]
    done = subprocess.run(
        [sys.executable, "-m", "strata", *words], cwd=place, capture_output=True, text=True
    )
    # `strata doctor` may find what this machine lacks.
    assert done.returncode in ((0, 1) if words[0] == "doctor" else (0,)), done.stderr
    assert done.stdout


def test_the_pages_have_commands_of_every_verb() -> None:
    used = {words[0] for _, words, _ in (one.values for one in COMMANDS)}
    assert set(strata.list_commands(click.Context(strata))) - used == {"help"}
