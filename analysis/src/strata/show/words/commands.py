# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that a result suggests: whole, quoted for a shell, to be pasted as they are."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from strata.printable import printable


@dataclass(frozen=True)
class Commands:
    """Further verbs on a trace, with the options that the present analysis was made with.

    `trace` and `links` are paths as the user gave them, `program` is how Strata was called.
    """

    trace: str
    links: str | None = None
    all_processes: bool = False
    program: str = "strata"

    def path(self, message: int) -> str:
        """Return the command that shows what delayed a message."""
        return self._of("path", "--message", str(message))

    def slowest(self, count: int, chain: str | None = None) -> str:
        """Return the command that shows what delayed the slowest messages, of one chain."""
        of_chain = ["--chain", chain] if chain else []
        return self._of("path", *of_chain, *(["--slowest", str(count)] if count > 1 else []))

    def analyze(self, *options: str, chain: str | None = None) -> str:
        """Return the command that prints sections of the analysis."""
        return self._of("analyze", *options, *(["--chain", chain] if chain else []))

    def report(self) -> str:
        """Return the command that writes the page."""
        return self._of("report")

    def follow_links(self) -> str:
        """Return the commands that write probable message links, and have chains follow them."""
        links = _shown([*self._start("links"), *self._processes()])
        follow = [*self._start("analyze"), "--links", "links.yaml", *self._processes()]
        return f"{links} > links.yaml && {_shown(follow)}"

    def _of(self, verb: str, *options: str) -> str:
        links = ["--links", self.links] if self.links is not None else []
        return _shown([*self._start(verb), *links, *self._processes(), *options])

    def _start(self, verb: str) -> list[str]:
        trace = f"./{self.trace}" if self.trace.startswith("-") else self.trace
        return [self.program, verb, trace]

    def _processes(self) -> list[str]:
        return ["--all-processes"] if self.all_processes else []


def _shown(words: list[str]) -> str:
    return printable(shlex.join(words))


def continued(command: str, width: int) -> list[str]:
    """Return a command in lines of at most `width`, each but the last ending in a backslash.

    An argument that is longer than a line stays whole, as a broken one could not be pasted.
    """
    lines = [""]
    # shlex.join quotes what has spaces, so that arguments are found again by splitting it.
    for word in _arguments(command):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(longer) + 2 <= width or not lines[-1].strip():
            lines[-1] = longer
        else:
            lines[-1] += " \\"
            lines.append(f"  {word}")
    return lines if len(command) > width else [command]


def _arguments(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=False, punctuation_chars="")
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)
