# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of a campaign's file as the texts that `strata run --set` takes."""

from __future__ import annotations

import json
from typing import Any

from strata.documents import DocumentError
from strata.scenario.expand import as_text
from strata.yaml_document import parse_yaml


def as_setting(key: str, value: Any) -> str:
    """Write a value as `strata run --set` takes it.

    A plain text stays as it is, unless it is set at a place of the file (`rmw.profile`), where it
    is read as YAML, and would be read as something else (`off`).
    """
    if isinstance(value, str):
        return value if "." not in key or _as_yaml(value) == value else json.dumps(value)
    return as_text(value) if isinstance(value, bool | int | float) else json.dumps(value)


def _as_yaml(text: str) -> Any:
    try:
        return parse_yaml(text)
    except DocumentError:
        return None
