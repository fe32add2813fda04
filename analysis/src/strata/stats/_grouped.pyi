# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from typing import TypedDict, overload

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.bool_]

class _Columns(TypedDict):
    count: _Ints
    mean: _Floats
    std: _Floats
    mad: _Floats
    quantiles: list[_Floats]

class _OfInts(_Columns):
    sum: _Ints
    min: _Ints
    max: _Ints

class _OfFloats(_Columns):
    sum: _Floats
    min: _Floats
    max: _Floats

# Arrays are contiguous, of one column, and of the types told (else TypeError). A column has as many
# values as `codes`, and `there` as many flags (else ValueError). Values that `there` does not flag,
# that equal `absent`, or are NaN, are left out. Fractions lie within 0..1 (else ValueError).
class Groups:
    # Rows of codes below 0, or of `count` and more, are in no group.
    def __init__(self, codes: _Ints, count: int) -> None: ...
    @staticmethod
    def one(rows: int) -> Groups: ...
    def __len__(self) -> int: ...
    @property
    def sizes(self) -> _Ints: ...
    @property
    def rows(self) -> _Ints: ...
    @overload
    def summarize(
        self,
        values: _Ints,
        fractions: _Floats,
        there: _Flags | None = None,
        absent: int | None = None,
    ) -> _OfInts: ...
    @overload
    def summarize(
        self,
        values: _Floats,
        fractions: _Floats,
        there: _Flags | None = None,
        absent: float | None = None,
    ) -> _OfFloats: ...
    @overload
    def ascending(
        self, values: _Ints, there: _Flags | None = None, absent: int | None = None
    ) -> tuple[_Ints, _Ints]: ...
    @overload
    def ascending(
        self, values: _Floats, there: _Flags | None = None, absent: float | None = None
    ) -> tuple[_Floats, _Ints]: ...

# Where the greatest convex minorant touches the points (places, heights), ascending. Places ascend
# and are different; of heights there are as many (else ValueError), none beyond 2^53.
def convex_contacts(places: _Floats, heights: _Ints) -> _Ints: ...
