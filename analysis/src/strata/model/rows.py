# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of dataclasses whose fields are columns of one length."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Rows = TypeVar("Rows", bound="DataclassInstance")


def joined(first: Rows, *others: Rows) -> Rows:
    """Return dataclasses of columns one after the other."""
    return type(first)(
        *(
            np.concatenate([getattr(rows, item.name) for rows in (first, *others)])
            for item in fields(first)
        )
    )
