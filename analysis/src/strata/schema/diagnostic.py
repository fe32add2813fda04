# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a finding is: its code, how much it matters, and what it says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters to the numbers."""

    INFO = "info"
    WARNING = "warning"
    LOSS = "loss"


@dataclass(frozen=True)
class Diagnostic:
    """One thing that can be found.

    In `text`, ``{count}`` is the number, of ``{byte|bytes}`` the first is for one, and ``{detail}``
    says which they are.
    """

    code: str
    severity: Severity
    text: str

    def say(self, count: int, detail: str = "") -> str:
        """Return the text for a count, with the names of what was found."""
        text = _FORMS.sub(r"\1" if count == 1 else r"\2", self.text)
        return text.format(count=f"{count:,}", detail=detail)

    @property
    def general(self) -> str:
        """The text for any count, N."""
        return _FORMS.sub(r"\2", self.text).format(count="N", detail="...")


_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
