# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of dataclasses whose fields are columns of one length."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Rows = TypeVar("Rows", bound="DataclassInstance")


def picked(rows: Rows, order: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Rows:
    """Return rows of a dataclass of columns; `order` are their numbers, or a mask."""
    return type(rows)(*(getattr(rows, item.name)[order] for item in fields(rows)))


def joined(first: Rows, *others: Rows) -> Rows:
    """Return dataclasses of columns one after the other."""
    return type(first)(
        *(
            np.concatenate([getattr(rows, item.name) for rows in (first, *others)])
            for item in fields(first)
        )
    )
