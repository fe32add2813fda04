# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes that the tests of layers play: the engine has of the middleware what the model has.

The tests of these modules run again here, and each model that they build is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from layers import test_held_senders, test_late_copies, test_late_joiners, test_middleware
from middleware_of_model import assert_as_model
from scene import Scene

from strata.engine.windows import NO_LOSSES, Windows

for _module in (test_held_senders, test_late_copies, test_late_joiners, test_middleware):
    for _name, _item in list(vars(_module).items()):
        # Made-up scenes are test_dds_orders.py's.
        if _name.startswith("test_") and not hasattr(_item, "hypothesis"):
            globals()[f"{_name}__{_module.__name__.rpartition('.')[2]}"] = _item


@pytest.fixture(autouse=True, scope="module")
def _compared() -> Iterator[None]:
    built: list[int] = []
    model = Scene.model

    def compared(scene: Scene, losses: Windows = NO_LOSSES) -> Any:
        pair = assert_as_model(scene.tables(), losses)
        built.append(len(pair.model.matches.take))
        return model(scene, losses)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scene, "model", compared)
        yield
    assert sum(built) > 0
