# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which of our libraries a configuration's events need, and where they are built."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from strata.record.guard import guard_libraries
from strata.record.places import install_spaces, sourced_spaces
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


def spaces_of(ros: Ros | None) -> Sequence[Path]:
    """List the install spaces to search for our libraries.

    Without a ROS 2 any distribution's will do: the libraries are the same.
    """
    return install_spaces() or sourced_spaces(os.environ) if ros is None else ros.spaces


def built_library(library: str, ros: Ros | None) -> Path | None:
    """Find a library of ours by its path below an install space; null when it is not built."""
    paths = (space / library for space in spaces_of(ros))
    return next((path for path in paths if path.is_file()), None)


def guards_beside(library: Path, relative: str, ros: Ros | None) -> tuple[Path, ...]:
    """Give what is preloaded beside a library found: the guard of its space, else of another."""
    own = library.parents[len(Path(relative).parts) - 1]
    return guard_libraries([own, *spaces_of(ros)])
