# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of a trace or a file system as text that can be shown and written anywhere."""

from __future__ import annotations

import os
import re

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# C0, DEL and C1, which a terminal may obey, and the surrogates that stand for bytes of a file name
# that are no UTF-8, which cannot be encoded; U+FFFE and U+FFFF, which XML cannot hold.
_CONTROLS = "\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
# What makes text look like other text: controls of its direction, line ends, and characters that
# are not seen (format characters, fillers, tags), by which two names can look the same.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNPRINTABLE = re.compile(f"[{_CONTROLS}{_UNSEEN}]")


def printable(text: str) -> str:
    """Return `text` with U+FFFD for each control character and each that is not seen.

    Line ends and tabs are among them, and the controls of a text's direction.
    """
    return _UNPRINTABLE.sub(_REPLACEMENT, text)


def printable_lines(text: str) -> str:
    """Return `text` as `printable` does, but with its line ends."""
    return "\n".join(map(printable, text.split("\n")))


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text that any encoder takes: U+FFFD for what is no UTF-8.

    Control characters stay, as files such as JSON can tell them; a terminal needs `printable`.
    """
    return os.fsencode(path).decode(errors="replace")
