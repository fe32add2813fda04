# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns that are made of the engine's rows when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

Kind = TypeVar("Kind")


class _WhenAsked:
    """Mixed into a class of columns: a column that is not there is made."""

    def __getattr__(self, name: str) -> Any:
        makers = self.__dict__.get("_makers", {})
        if name not in makers:
            raise AttributeError(f"{type(self).__name__} has no column {name}")
        self.__dict__[name] = made = makers[name]()
        return made


@cache
def _with_makers(kind: Any) -> Any:
    return type(f"{kind.__name__}WhenAsked", (_WhenAsked, kind), {})


def when_asked(kind: type[Kind], makers: Mapping[str, Callable[[], Any]]) -> Kind:
    """Return an instance of a dataclass of columns; each is made by its maker, once."""
    made: Any = object.__new__(_with_makers(cast(Any, kind)))
    made.__dict__["_makers"] = makers
    return cast(Kind, made)
