# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which characters of a name reach a terminal, Markdown or a page."""

from __future__ import annotations

import sys
import unicodedata

from strata.printable import printable

# Signs of scripts that are seen, though Unicode calls them format characters.
_SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}


def test_no_control_and_no_unseen_character_stays() -> None:
    stayed = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and code not in _SEEN
        and printable(chr(code)) == chr(code)
    ]
    assert stayed == []


def test_letters_stay() -> None:
    for text in (
        "/camera/größe",
        "/カメラ/画像",
        "/كاميرا",
        "/камера",
        "µs → ms",
        "a b\u00a0c",
        "👍🏽",
    ):
        assert printable(text) == text


def test_each_becomes_one_replacement() -> None:
    assert printable("a\u202eb\u2066c\n\u200b") == "a\ufffdb\ufffdc\ufffd\ufffd"
