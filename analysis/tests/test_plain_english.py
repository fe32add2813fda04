# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Texts for users are plain English, without phrases that read like a translation.

Covered are the pages of the documentation (data-model.md and events.md have the texts of the
schema), the topics of `strata help`, every README, the comments of the shipped configurations, the
help of every verb, and the strings of the packages in `PACKAGES`. Code in backticks and in fences
is skipped: it has names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from strata.cli.main import VERBS, strata

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "analysis/src/strata"

_THING = (
    "byte|call|callback|cell|chain|CPU|day|event|frame|gate|hop|hour|line|message|minute|node"
    "|packet|panel|process|publication|row|run|sample|second|side|subscription|thread|tick|topic"
    "|trace"
)
_UNIT = "(ns|us|ms|s|B|bytes|KiB|MiB|MB|events|packets|values)"
PHRASES = {
    rf"\b(one|row|rows|line|lines|file|panel|sentence) an? ({_THING})\b": "one row per X",
    rf"\d[\d.,]* {_UNIT} an? ({_THING})\b": "50 bytes per event",
    r"\b(tells|told)\b": "reports, shows, known",
    r"\btells? (that|of|how|what|which|when|where|whether|why)\b": "reports, shows",
    r"\bstands? (beside|for|in|twice|there|where|below|still)\b": "is, means, replaces",
    r"\bstood\b": "was",
    r"\bmade (again|of it)\b": "rebuilt, reused",
    r"\bcame of\b": "the results, the outcome",
    r"\bways? of an? (message|request)\b": "the path of a message",
    r"\b(the|our) house\b|\brooms\b|\bfound no room\b": "directories, space",
    r"\bwhat of (them|it)\b": "which of them",
    r"\bof less than \d": "with fewer than N",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bheld against\b": "compared with, checked against",
    r"\bgoe?s? by the\b": "uses the",
    r"\bare none of\b": "are not among",
    r"\bused again\b": "reused",
    r"\bof ours\b": "Strata's",
    r"\bso that it holds\b": "for this to be true",
    r"\b(has|have|is) no equal\b": "has no equivalent",
    r"\b(the|its|their) begin\b": "the start",
}

# Directories and modules below analysis/src/strata whose strings are covered.
PACKAGES = (
    "api",
    "campaign",
    "cli",
    "comparison",
    "documents.py",
    "engine",
    "errors.py",
    "export",
    "guard",
    "layers",
    "live",
    "model",
    "originals",
    "pipeline",
    "read",
    "record",
    "scenario",
    "schema/findings",
    "schema/tables",
    "show",
    "sql",
    "stats",
    "study",
    "timeline",
    "verdict",
    "yaml_document.py",
)


def _files() -> Iterator[Path]:
    yield from (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    yield from sorted((SOURCES / "help").glob("*.md"))
    for place in ("launch", "trace_configs", "tracing_ws"):
        for name in ("README.md", "*.yaml"):
            found = sorted((ROOT / place).rglob(name))
            yield from (path for path in found if not {"build", "install"} & set(path.parts))


def _prose(path: Path) -> str:
    """Return the text of a page without its code, or the comments of a configuration."""
    text = path.read_text()
    if path.suffix == ".md":
        text = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.DOTALL | re.MULTILINE)
        return re.sub(r"`[^`]*`|\]\([^)]*\)", "X", text)
    return "\n".join(found.group(1) for found in re.finditer(r"(?:^|\s)#(.*)", text))


def _texts(path: Path) -> str:
    """Return the strings of a module that are no docstrings, those of templates with their gaps."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    )
    return " | ".join(text for text in texts if isinstance(text, str) and " " in text.strip())


def _helps(verb: str) -> str:
    """Return what a verb says of itself, of its arguments and options, and of its own verbs."""
    command = strata.get_command(click.Context(strata), verb)
    assert command is not None
    waiting, texts = [command], [VERBS[verb].summary]
    while waiting:
        command = waiting.pop()
        texts += [command.help or "", command.epilog or ""]
        texts += [str(getattr(option, "help", "") or "") for option in command.params]
        if isinstance(command, click.Group):
            context = click.Context(command)
            named = (command.get_command(context, name) for name in command.list_commands(context))
            waiting += [one for one in named if one is not None]
    return "\n".join(texts)


def _found(text: str) -> list[str]:
    """Return each forbidden phrase in a text, with its context and the words to use instead."""
    text = re.sub(r"[ \t]*\n[ \t]*(?=\S)", " ", text)
    return [
        f"...{text[max(0, hit.start() - 40) : hit.end() + 30]}... ({instead})"
        for phrase, instead in PHRASES.items()
        for hit in re.finditer(phrase, text, flags=re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", list(_files()), ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_and_configurations(path: Path) -> None:
    assert _found(_prose(path)) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_messages(package: str) -> None:
    place = SOURCES / package
    modules = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    found = {str(one.relative_to(ROOT)): _found(_texts(one)) for one in modules}
    assert {name: hits for name, hits in found.items() if hits} == {}


@pytest.mark.parametrize(
    "path", sorted((SOURCES / "show").rglob("*.j2")), ids=lambda p: str(p.relative_to(SOURCES))
)
def test_templates_of_pages(path: Path) -> None:
    assert _found(re.sub(r"{[{%].*?[}%]}|<[^>]*>", " ", path.read_text(), flags=re.DOTALL)) == []


@pytest.mark.parametrize("verb", list(VERBS))
def test_help_of_verbs(verb: str) -> None:
    assert _found(_helps(verb)) == []


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("One row a message, and 50 bytes an event.", 2),
        ("It was told; what came\nof it stands below.", 3),
        ("One row per message: a second run takes 5 ms per event.", 0),
    ],
)
def test_phrases_are_found(text: str, hits: int) -> None:
    assert len(_found(text)) == hits
