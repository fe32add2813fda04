# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/site/commands.py as a module: it is in no package, as it runs before anything is set up."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def _commands() -> ModuleType:
    spec = importlib.util.spec_from_file_location("commands", ROOT / "docs/site/commands.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


commands = _commands()
