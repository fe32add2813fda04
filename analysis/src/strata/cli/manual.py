# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Write the man page strata.1 from the verbs, their options and the topics of `strata help`.

usage: python -m strata.cli.manual FILE
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from strata import __version__
from strata.cli import topics
from strata.cli.listing import ListingCommand
from strata.cli.reference import commands, options, paragraphs, usage


def page() -> str:
    """Return the man page, as roff with the macros of man(7)."""
    lines = [f'.TH STRATA 1 "" "Strata {__version__}" "User Commands"', ".ad l", ".SH NAME"]
    lines += [r"strata \- in which layer of a ROS 2 system the time goes", ".SH SYNOPSIS"]
    lines += [r".B strata", "VERB [OPTIONS] [ARGS]...", ".SH COMMANDS"]
    for name, command in commands():
        lines += [".SS " + _escaped(usage(name, command))]
        for text in paragraphs(command.help):
            lines += _paragraph(text)
        for names, text in options(command):
            lines += [".TP", f".B {_escaped(names)}", _escaped(text)]
        if isinstance(command, ListingCommand):
            lines += [".PP", f"{_escaped(command.title)}:"]
            for word, text in command.entries:
                lines += [".TP", f".B {_escaped(word)}", _escaped(text)]
    for topic in topics.TOPICS:
        lines += [f".SH {topic.upper()}", *_topic(topics.text(topic))]
    return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    if "\n" in text:
        return [".PP", ".nf", *map(_escaped, text.splitlines()), ".fi"]
    return [".PP", _escaped(text)]


def _topic(markdown: str) -> list[str]:
    """Return a topic as roff: its paragraphs, lists, tables (a row per line) and examples."""
    lines: list[str] = []
    in_code = False
    for line in markdown.splitlines()[1:]:
        if line.startswith("```"):
            in_code = not in_code
            lines += [".PP", ".nf"] if in_code else [".fi"]
        elif in_code:
            lines.append(_escaped(line))
        elif line.startswith("#"):
            lines.append(f".SS {_escaped(line.lstrip('# '))}")
        elif line.startswith("* "):
            lines += [r".IP \(bu 2", _escaped(_plain(line[2:]))]
        elif line.startswith("| ") and not line.startswith("| ---"):
            first, *others = (cell.strip() for cell in line.strip("| ").split(" | "))
            lines += [".TP", f".B {_escaped(_plain(first))}", _escaped(_plain(": ".join(others)))]
        elif not line:
            lines.append(".PP")
        elif not line.startswith("| ---"):
            lines.append(_escaped(_plain(line.strip())))
    return lines


def _plain(text: str) -> str:
    """Return Markdown without backticks and emphasis."""
    return re.sub(r"[`*]", "", text)


def _escaped(text: str) -> str:
    """Return text for roff: no escapes of its own, and no request at the beginning of a line."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


def main() -> None:
    """Write the man page."""
    (target,) = map(Path, sys.argv[1:])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page())
    sys.stderr.write(f"Wrote {target}\n")


if __name__ == "__main__":
    main()
