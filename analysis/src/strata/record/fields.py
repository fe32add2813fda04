# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Checked access to the mappings of a YAML document; each refusal names the file and the key."""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from strata.errors import SessionError

_SIZE = re.compile(r"(\d+)\s*([kKMG]?)")
_FACTOR = {"": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Fields:
    """One mapping of a configuration file; `place` is its dotted key, empty at the top."""

    values: Mapping[str, Any]
    path: Path
    place: str

    @classmethod
    def of(cls, document: object, path: Path, place: str, known: tuple[str, ...]) -> Fields:
        """Take a mapping whose keys are all known; refuse anything else."""
        where = f"key '{place}'" if place else "the document"
        if not isinstance(document, Mapping):
            raise SessionError(
                f"Cannot use configuration {path}: {where} is {_kind(document)}, not a mapping. "
                f"Write the keys {', '.join(known)}."
            )
        for key in document:
            if key not in known:
                dotted = f"{place}.{key}" if place else str(key)
                raise SessionError(
                    f"Cannot use configuration {path}: unknown key '{dotted}'. "
                    f"Known here: {', '.join(known)}."
                )
        return cls(document, path, place)

    def refuse(self, key: str, fact: str, advice: str) -> NoReturn:
        """Raise the error for a key's value."""
        dotted = f"{self.place}.{key}" if self.place else key
        raise SessionError(
            f"Cannot use configuration {self.path}: key '{dotted}': {fact}. {advice}."
        )

    def section(self, key: str, known: tuple[str, ...], *, optional: bool = False) -> Fields:
        """Give a nested mapping; an absent one is refused unless optional."""
        if key not in self.values:
            if not optional:
                self.refuse(key, "missing", f"Add it, with {', '.join(known)}")
            return Fields({}, self.path, key)
        return Fields.of(self.values[key], self.path, key, known)

    def names(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Give a list of distinct texts."""
        if key not in self.values:
            return default
        value = self.values[key]
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self.refuse(key, f"{_kind(value)} is not a list of names", "Write `[NAME, NAME]`")
        twice = sorted({name for name in value if value.count(name) > 1})
        if twice:
            self.refuse(key, f"'{twice[0]}' is listed twice", "List it once")
        return tuple(value)

    def ports(self, key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """Give a list of distinct port numbers."""
        value = self.values.get(key, list(default))
        if not isinstance(value, list):
            self.refuse(key, f"{_kind(value)} is not a list of ports", "Write `[7502, 7503]`")
        for port in value:
            if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
                self.refuse(key, f"'{port}' is not a port", "Write numbers from 1 to 65535")
            if value.count(port) > 1:
                self.refuse(key, f"{port} is listed twice", "List it once")
        return tuple(value)

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        """Give one of a few words."""
        value = self.values.get(key, default)
        if value not in choices:
            self.refuse(key, f"'{value}' is not allowed", f"Use {' or '.join(choices)}")
        return str(value)

    def whole(self, key: str, default: int) -> int:
        """Give a count of at least 0."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.refuse(key, f"'{value}' is not a whole number of at least 0", "Write a number")
        return value

    def power_of_two(self, key: str, default: int, least: int) -> int:
        """Give a power of two of at least `least`; LTTng would silently round others up."""
        value = self.whole(key, default)
        self._refuse_unless_power_of_two(key, value, least, "")
        return value

    def size(self, key: str, default: int) -> int:
        """Give a size in bytes, written as a number with or without k, M or G."""
        value = self.values.get(key, default)
        match = None if isinstance(value, bool) else _SIZE.fullmatch(str(value))
        if match is None:
            self.refuse(key, f"'{value}' is not a size", "Write bytes, or as in 512k, 1M")
        size = int(match[1]) * _FACTOR[match[2]]
        self._refuse_unless_power_of_two(key, size, mmap.PAGESIZE, " bytes")
        return size

    def _refuse_unless_power_of_two(self, key: str, value: int, least: int, unit: str) -> None:
        if value < least:
            what = " (one page)" if unit else ""
            self.refuse(key, f"{value}{unit} is less than {least}{unit}{what}", "Make it larger")
        if value & (value - 1):
            below = 1 << (value.bit_length() - 1)
            self.refuse(
                key,
                f"{value}{unit} is not a power of two, which LTTng requires",
                f"Use {below} or {below * 2}",
            )


def _kind(value: object) -> str:
    if value is None:
        return "empty"
    kinds: dict[type, str] = {dict: "a mapping", list: "a list", str: "a text"}
    return kinds.get(type(value), repr(value))
