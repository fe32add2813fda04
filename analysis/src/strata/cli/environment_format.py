# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables of an environment as text for a shell, for systemd and for Docker."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from strata.errors import SessionError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What systemd takes a backslash from between double quotes.
_SYSTEMD_QUOTED = re.compile(r'(["\\`$])')
_SYSTEMD_REFUSES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def formatted(variables: Mapping[str, str], form: str) -> str:
    """Give a line for each variable, in order of their names.

    Raises SessionError when a value cannot be written in that form. A name that is no identifier,
    as bash gives the functions that it exports, is left out: no shell could set it.
    """
    named = [name for name in sorted(variables) if _NAME.fullmatch(name)]
    return "".join(f"{FORMATS[form](name, variables[name])}\n" for name in named)


def _sh(name: str, value: str) -> str:
    quote = "'"
    return f"export {name}='" + value.replace(quote, f"{quote}\\{quote}{quote}") + quote


def _systemd(name: str, value: str) -> str:
    if _SYSTEMD_REFUSES.search(value) or not _is_text(value):
        raise SessionError(
            f"Cannot write {name} for systemd: its value has a control character, or is not UTF-8, "
            "which EnvironmentFile= does not accept. Change or unset the variable."
        )
    return f'{name}="' + _SYSTEMD_QUOTED.sub(r"\\\1", value) + '"'


def _docker(name: str, value: str) -> str:
    if "\n" in value or "\r" in value or not _is_text(value):
        raise SessionError(
            f"Cannot write {name} for Docker: its value has a line break, or is not UTF-8, which "
            "--env-file does not accept. Change or unset the variable, or pass it with `docker run "
            f"--env {name}`."
        )
    return f"{name}={value}"


def _is_text(value: str) -> bool:
    try:
        os.fsencode(value).decode()
    except UnicodeDecodeError:
        return False
    return True


FORMATS: dict[str, Callable[[str, str], str]] = {"sh": _sh, "systemd": _systemd, "docker": _docker}
"""How a variable is written, by the name of the form."""
