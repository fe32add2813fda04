# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Read a file of declared message links.

links:
  - node: /fusion
    inputs: [/fast, /slow]
    outputs: [/fused]
    kind: periodic_async
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from strata.documents import DocumentError
from strata.errors import TraceError
from strata.schema.links import LINK_KINDS, MessageLink
from strata.yaml_document import read_yaml

_KEYS = {"node", "inputs", "outputs", "kind"}


def read_links(path: Path) -> tuple[MessageLink, ...]:
    """Return the links that a YAML file declares; raises TraceError for what is none."""
    try:
        content = read_yaml(path)
    except DocumentError as error:
        raise error.refusal(path, "links", TraceError) from error
    if not isinstance(content, dict) or not isinstance(content.get("links"), list):
        raise TraceError(f"Cannot read links {path}: it has no list `links`. See docs/method.md.")
    return tuple(_link(path, row, item) for row, item in enumerate(content["links"], 1))


def declared_links(links: str | Path | Sequence[MessageLink]) -> tuple[MessageLink, ...]:
    """Return message links that are given as such, or as the path of a file that declares them.

    Raises TraceError for a wrong file, and TypeError for what is neither.
    """
    if isinstance(links, str | Path):
        return read_links(Path(links))
    found = tuple(links)
    for link in found:
        if not isinstance(link, MessageLink):
            raise TypeError(
                f"links holds {link!r}, which is not a MessageLink. Give strata.MessageLink "
                "objects, or the path of a YAML file (docs/method.md)."
            )
    return found


def _link(path: Path, row: int, item: Any) -> MessageLink:
    if not isinstance(item, dict) or set(item) != _KEYS:
        raise _wrong(path, row, f"it must have the keys {', '.join(sorted(_KEYS))}")
    if item["kind"] not in LINK_KINDS:
        raise _wrong(path, row, f"kind {item['kind']!r} is not one of {', '.join(LINK_KINDS)}")
    names = [item["node"], *_names(path, row, item, "inputs"), *_names(path, row, item, "outputs")]
    for name in names:
        if not isinstance(name, str) or not name.startswith("/"):
            raise _wrong(path, row, f"{name!r} is not a full name (which begins with /)")
    return MessageLink(item["node"], tuple(item["inputs"]), tuple(item["outputs"]), item["kind"])


def _names(path: Path, row: int, item: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(item[key], list) or not item[key]:
        raise _wrong(path, row, f"{key} must be a list of topics, not {item[key]!r}")
    return list(item[key])


def _wrong(path: Path, row: int, fact: str) -> TraceError:
    return TraceError(f"Cannot read links {path}: link {row}: {fact}. See docs/method.md.")
