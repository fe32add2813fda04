# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns that are made of the engine's rows when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast
from weakref import ref

import numpy as np

Kind = TypeVar("Kind")


class _WhenAsked:
    """Mixed into a class of columns: a column that is not there is made.

    It is kept as long as anyone uses it: most are wanted by few stages, and made in no time.
    """

    def __getattr__(self, name: str) -> Any:
        makers = self.__dict__.get("_makers", {})
        if name not in makers:
            raise AttributeError(f"{type(self).__name__} has no column {name}")
        known = self.__dict__["_used"].get(name)
        made = None if known is None else known()
        if made is None:
            maker = makers[name]
            made = getattr(self, maker) if isinstance(maker, str) else maker()
            if isinstance(made, np.ndarray):
                self.__dict__["_used"][name] = ref(made)
            else:
                self.__dict__[name] = made
        return made


@cache
def _with_makers(kind: Any) -> Any:
    return type(f"{kind.__name__}WhenAsked", (_WhenAsked, kind), {})


def when_asked(kind: type[Kind], makers: Mapping[str, Callable[[], Any] | str]) -> Kind:
    """Return an instance of a dataclass of columns; each is made by its maker.

    One that is a name is that column.
    """
    made: Any = object.__new__(_with_makers(cast(Any, kind)))
    made.__dict__["_makers"] = makers
    made.__dict__["_used"] = {}
    return cast(Kind, made)
