# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A file of gates or conditions in YAML, read strictly: what is wrong is told with its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from strata.documents import DocumentError, read_text
from strata.errors import StrataError
from strata.yaml_document import MAX_BYTES, compose_yaml


@dataclass(frozen=True)
class Document:
    """A file: `what` it is of, the error that refuses it, and the page that says what it may hold.

    All methods raise that error.
    """

    path: Path
    what: str
    error: type[StrataError]
    page: str

    def root(self, key: str) -> yaml.MappingNode:
        """Return the mapping that the file is; `key` is one that it has to have."""
        try:
            root = compose_yaml(read_text(self.path, MAX_BYTES))
        except DocumentError as error:
            if error.line is None:
                raise error.refusal(self.path, self.what, self.error) from error
            raise self.wrong(error.line, error.fact) from error
        if not isinstance(root, yaml.MappingNode):
            raise self.wrong(1, f"the document has no key `{key}`")
        return root

    def entries(self, node: yaml.MappingNode, known: tuple[str, ...]) -> dict[str, yaml.Node]:
        """Return the values of a mapping by their keys, each of which is known and there once."""
        found: dict[str, yaml.Node] = {}
        seen: dict[str, int] = {}
        for key, value in node.value:
            line, name = key.start_mark.line + 1, str(key.value)
            if name not in known:
                raise self.wrong(line, f"key {name!r} is none of {', '.join(known)}")
            if name in seen:
                raise self.wrong(line, f"key {name!r} occurs twice, see line {seen[name]}")
            seen[name], found[name] = line, value
        return found

    def text(self, node: yaml.Node) -> str:
        """Return a text that is not empty."""
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            raise self.wrong(line_of(node), "a text is wanted there")
        return str(node.value)

    def wrong(self, line: int, fact: str) -> StrataError:
        """Make the error for what is wrong on a line."""
        return self.error(f"Cannot use {self.what} {self.path}:{line}: {fact}. See {self.page}.")


def line_of(node: yaml.Node) -> int:
    """Return the line that a value begins on, from 1."""
    return int(node.start_mark.line) + 1
