# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of several lines, as a prompt should show it."""

from __future__ import annotations


class Text(str):
    """A string that a prompt and a notebook show as it is, with its line ends."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
