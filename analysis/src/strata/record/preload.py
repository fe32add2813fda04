# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of our libraries a configuration's events need, and where they are built."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from strata.record.places import install_spaces
from strata.record.ros import Ros


def asks_for(patterns: Sequence[str], provider: str) -> bool:
    """Return whether a configuration's userspace events include some of a provider."""
    return any(_may_name(pattern, provider) for pattern in patterns)


def _may_name(pattern: str, provider: str) -> bool:
    stated, colon, _ = pattern.partition(":")
    if colon:
        return fnmatchcase(provider, stated)
    # A `*` may stand for the colon, too.
    beginning, star, _ = pattern.partition("*")
    return bool(star) and f"{provider}:".startswith(beginning)


def space_with(library: str, ros: Ros | None) -> Path | None:
    """Find the install space that holds a library; null when it is not built.

    Without a ROS 2 any distribution's will do: the library is the same.
    """
    spaces = install_spaces() if ros is None else [ros.space] if ros.space else []
    return next((space for space in spaces if (space / library).is_file()), None)
