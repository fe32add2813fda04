# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Colours of the page: one for each layer (declared in schema/layers), the same everywhere.

The palette is Okabe and Ito's, which people with any kind of colour blindness can tell apart, with
further ones for the layers within the middleware; a layer's neighbours along a message differ in
lightness too. Merged layers are hatched in bars and dashed in lines. The layers of a service's
request have the colours of the layers of a message that they are like.

What a thread did is no layer: work is dark, waiting light, and time in which it had no CPU
vermilion.
"""

from __future__ import annotations

from dataclasses import dataclass

from strata.schema import layers, service_layers
from strata.schema.layer import JOINED

MICRO = "µs"
"""How pages write microseconds; terminals write us."""

TEXT = "#1b1f24"
MUTED = "#57606a"
GRID = "#e3e6ea"
CHAIN = "#111111"
"""The whole chain, where it is drawn beside its layers."""

_UNKNOWN = "#8a8f98"

_PAINTED = {
    layer.name: layer.colour for layer in (*layers.BY_NAME.values(), *service_layers.SERVICE_LAYERS)
}

STATES = {
    "executing": "#37474f",
    "waiting": "#d3dae0",
    "mutex": "#c3b8de",
    "ready": "#5f9ea0",
    "running": "#37474f",
    "preempted": "#d55e00",
    "blocked": "#d3dae0",
    "unknown": "#8a8f98",
}
"""Fills of what a thread did: seen by its executor (the first four), and by the kernel."""


@dataclass(frozen=True)
class Paint:
    """How a layer is drawn: fill, the colour of text on it, and whether it is a merged one."""

    slug: str
    fill: str
    ink: str
    merged: bool


def paint(layer: str) -> Paint:
    """Return how `layer` is drawn; a layer that this version does not know is grey."""
    fill = _PAINTED.get(layer, _UNKNOWN)
    slug = "-".join(layer.replace("+", " ").split()) if layer in _PAINTED else "unknown"
    return Paint(slug, fill, _ink_on(fill), JOINED in layer)


def known(layer: str) -> bool:
    """Tell whether a text is the name of a layer with a colour of its own."""
    return layer in _PAINTED


def paints() -> list[Paint]:
    """Every layer's paint and the one of unknown layers, for the style sheet."""
    return [paint(name) for name in (*_PAINTED, "")]


def order(layer: str) -> int:
    """Place of a layer in legends: as a message meets them, those inside a node last."""
    inside = (
        layers.HOLD,
        layers.SUSPENDED,
        layers.CALLBACK,
        layers.STORED,
        layers.LINK_HOLD,
    )
    names = [item.name for item in (*layers.TRANSFER_LAYERS, *inside)]
    return names.index(layer) if layer in names else len(names)


def order_in_call(layer: str) -> int:
    """Place of a layer of service calls in legends: as a call meets them."""
    names = [item.name for item in service_layers.SERVICE_LAYERS]
    return names.index(layer) if layer in names else len(names)


def _ink_on(fill: str) -> str:
    """Black or white, whichever has more contrast (WCAG relative luminance)."""
    luminance = _luminance(fill)
    on_white = 1.05 / (luminance + 0.05)
    on_black = (luminance + 0.05) / 0.05
    return "#ffffff" if on_white > on_black else "#000000"


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
