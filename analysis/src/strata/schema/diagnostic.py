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

    In `text`, ``{count}`` is the number, and of ``{byte|bytes}`` the first is for one.
    """

    code: str
    severity: Severity
    text: str

    def say(self, count: int) -> str:
        """Return the text for a count."""
        return _FORMS.sub(r"\1" if count == 1 else r"\2", self.text).format(count=f"{count:,}")

    @property
    def general(self) -> str:
        """The text for any count, N."""
        return _FORMS.sub(r"\2", self.text).format(count="N")


_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
