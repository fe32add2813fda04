# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that are costly to import, which most commands do not use: loaded when first used.

Take them from here, as in `from strata.lazy import pandas as pd`; a test says which commands may
load which. What a module of them is asked for while a module of ours is imported loads it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["arrow_compute", "arrow_csv", "pandas", "pyarrow"]


class _WhenUsed(ModuleType):
    """Stands for a module, which is imported when first asked for anything.

    It is in no one's way: `sys.modules` has the module itself, once it is imported.
    """

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyarrow.compute as arrow_compute
    import pyarrow.csv as arrow_csv
else:
    pandas = _WhenUsed("pandas")
    pyarrow = _WhenUsed("pyarrow")
    arrow_compute = _WhenUsed("pyarrow.compute")
    arrow_csv = _WhenUsed("pyarrow.csv")
