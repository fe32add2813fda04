# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that are costly to import, which most commands do not use: loaded when first used."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING


def _when_used(name: str) -> ModuleType:
    """Return a module that loads itself when first asked for anything."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    import pandas as pandas
else:
    pandas = _when_used("pandas")
