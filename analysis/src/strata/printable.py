# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of a trace or a file system as text that can be shown and written anywhere."""

from __future__ import annotations

import os
import re

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# C0, DEL and C1, which a terminal may obey, and the surrogates that stand for bytes of a file name
# that are no UTF-8, which cannot be encoded; U+FFFE and U+FFFF, which XML cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Return `text` with U+FFFD for each control character, line ends and tabs included."""
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text that any encoder takes: U+FFFD for what is no UTF-8.

    Control characters stay, as files such as JSON can tell them; a terminal needs `printable`.
    """
    return os.fsencode(path).decode(errors="replace")
