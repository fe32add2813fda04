# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""YAML within bounds, for every file of a user's: none takes minutes, gigabytes or a traceback."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml

from strata.documents import MAX_DEPTH, MAX_DIGITS, DocumentError, read_text, shown
from strata.printable import printable

MAX_BYTES = 1 << 20
MAX_VALUES = 100_000
"""Values of a document, with each alias counted for all that it stands for."""

Made = TypeVar("Made")


class Loader(yaml.SafeLoader):
    """Plain YAML within bounds: of depth, of values (aliases expanded), of digits; no key twice."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._sizes: dict[int, int] = {}
        self._made = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node and count what it stands for."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        before = self._made
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise DocumentError(f"it is nested more than {MAX_DEPTH} deep", line)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._sizes:
                raise DocumentError(f"*{shown(event.anchor or '')} refers to itself", line)
            self._made += self._sizes[id(node)]
        else:
            self._made += 1
            self._sizes[id(node)] = self._made - before
        if self._made > MAX_VALUES:
            fact = f"it has more than {MAX_VALUES:,} values, including aliases"
            raise DocumentError(fact, line, "Give a smaller file")
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Construct a value; what its type cannot hold is told with its line."""
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith((":int", ":float")):
            digits = sum(character.isalnum() for character in node.value)
            if digits > MAX_DIGITS:
                fact = f"a number has {digits:,} digits, and at most {MAX_DIGITS} are read"
                raise DocumentError(fact, line, "Write a smaller number")
        try:
            return super().construct_object(node, deep)
        except DocumentError:
            raise
        except (ValueError, OverflowError, AttributeError, KeyError, IndexError, TypeError) as bad:
            kind = node.tag.rpartition(":")[2]
            text = f"'{shown(node.value)}'" if isinstance(node, yaml.ScalarNode) else "a value"
            raise DocumentError(f"{text} is no {kind}", line, "Quote text") from bad

    def unique_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Construct a mapping without a key that occurs twice."""
        del deep
        lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, Hashable):
                raise DocumentError("a key is not text", line, "Write a text as the key")
            if key in lines:
                fact = f"key '{shown(str(key))}' occurs twice"
                raise DocumentError(fact, line, f"See line {lines[key]}")
            lines[key] = line
        return self.construct_mapping(node, deep=True)


Loader.add_constructor("tag:yaml.org,2002:map", Loader.unique_mapping)


def compose_yaml(text: str) -> yaml.Node | None:
    """Compose a YAML document's nodes, which know their lines. Raises DocumentError."""
    return _safely(lambda: Loader(text).get_single_node())


def parse_yaml(text: str, loader: type[Loader] = Loader) -> Any:
    """Parse a YAML document. Raises DocumentError, with the line, for what is none."""
    return _safely(lambda: loader(text).get_single_data())


def read_yaml(path: Path, loader: type[Loader] = Loader) -> Any:
    """Read a YAML file. Raises DocumentError, also for what cannot be opened."""
    return parse_yaml(read_text(path, MAX_BYTES), loader)


def _safely(step: Callable[[], Made]) -> Made:
    try:
        return step()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fact = error.problem or error.context or "the syntax is wrong"
        raise DocumentError(f"not YAML: {printable(fact)}", mark.line + 1 if mark else None) from (
            error
        )
    except yaml.YAMLError as error:
        # Such as a control character, which is told without a line.
        fact = printable(" ".join(str(error).split()))
        raise DocumentError(f"not YAML: {fact}", advice="Give a YAML file") from error
    except RecursionError as error:
        raise DocumentError("it is nested too deeply", advice="Give another file") from error
