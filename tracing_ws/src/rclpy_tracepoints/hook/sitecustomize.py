# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Python runs this at start-up when its directory is first on PYTHONPATH.

It waits for rclpy's modules to be imported and has them patched by `rclpy_tracepoints`; until then
nothing else is imported. Then it runs the sitecustomize that it stands in front of.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib._bootstrap import module_from_spec  # importlib.util takes 2 ms to import
from importlib.machinery import PathFinder

_PATCHED = frozenset(
    {
        "rclpy.action.client",
        "rclpy.action.server",
        "rclpy.executors",
        "rclpy.experimental.events_executor",
        "rclpy.node",
        "rclpy.publisher",
        "rclpy.service",
        "rclpy.subscription",
        "rclpy.timer",
    }
)


class _Finder:
    """Finds rclpy's modules as the other finders do, and has them patched once they ran."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _PATCHED:
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader:
    """Stands in for a module's loader until the module ran."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _patch(module)


def _patch(module):
    try:
        patches = importlib.import_module("rclpy_tracepoints.patches")
        patches.patch(module)
    except Exception as error:
        message = f"Cannot trace the callbacks of {module.__name__}: {error!r}."
        sys.stderr.write(f"rclpy_tracepoints: {message} The program runs without them.\n")


def _run_next():
    """Run the sitecustomize that this file hides; what it raises is for Python to report."""
    here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - pathlib is slow to import
    others = [entry for entry in sys.path if os.path.realpath(entry or os.curdir) != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder)
_run_next()
