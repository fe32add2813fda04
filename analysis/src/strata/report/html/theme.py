# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Colours of the page: one for each layer, the same in every figure and table.

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

TEXT = "#1b1f24"
MUTED = "#57606a"
GRID = "#e3e6ea"
CHAIN = "#111111"
"""The whole chain, where it is drawn beside its layers."""

_UNKNOWN = "#8a8f98"

_COLOURS = {
    layers.DRIVER_QUEUE.name: "#b3123f",
    layers.DRIVER.name: "#f2a0a1",
    layers.CLIENT_PUBLISH.name: "#56b4e9",
    layers.HISTORY.name: "#a0a4b8",
    layers.SERIALIZE.name: "#f0e442",
    layers.DDS_WRITE.name: "#117733",
    layers.TRANSPORT.name: "#3f7fe0",
    layers.DDS_RECEIVE.name: "#88d8c0",
    layers.MIDDLEWARE.name: "#0072b2",
    layers.WAKE_UP.name: "#882d7e",
    layers.EXECUTOR_WAIT.name: "#e69f00",
    layers.TAKE.name: "#009e73",
    layers.CLIENT_TAKE.name: "#6b6b6b",
    layers.CALLBACK.name: "#cc79a7",
    layers.SUSPENDED.name: "#d9c2d4",
    layers.HOLD.name: "#d55e00",
    layers.STORED.name: "#a58d5f",
    layers.LINK_HOLD.name: "#9e2a2b",
    layers.MIDDLEWARE_EXECUTOR_WAIT.name: "#5b4fc4",
    layers.EXECUTOR_WAIT_TAKE.name: "#8c5a1e",
    layers.MIDDLEWARE_EXECUTOR_WAIT_TAKE.name: "#3b2f8f",
    layers.SERIALIZE_DDS_WRITE.name: "#6b8e23",
    layers.DDS_WRITE_TRANSPORT.name: "#1a6b8a",
    layers.SERIALIZE_DDS_WRITE_TRANSPORT.name: "#2a4d69",
    layers.TRANSPORT_DDS_RECEIVE.name: "#5b9ea6",
    layers.DDS_WRITE_TRANSPORT_DDS_RECEIVE.name: "#1d3557",
    layers.WAKE_UP_EXECUTOR_WAIT.name: "#b5651d",
    layers.WAKE_UP_EXECUTOR_WAIT_TAKE.name: "#6f3d12",
}

_SERVICE_COLOURS = {
    service_layers.REQUEST_MIDDLEWARE.name: _COLOURS[layers.MIDDLEWARE.name],
    service_layers.REQUEST_EXECUTOR_WAIT.name: _COLOURS[layers.EXECUTOR_WAIT.name],
    service_layers.REQUEST_MIDDLEWARE_EXECUTOR_WAIT.name: _COLOURS[
        layers.MIDDLEWARE_EXECUTOR_WAIT.name
    ],
    service_layers.REQUEST_TAKE.name: _COLOURS[layers.TAKE.name],
    service_layers.REQUEST_EXECUTOR_WAIT_TAKE.name: _COLOURS[layers.EXECUTOR_WAIT_TAKE.name],
    service_layers.REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE.name: _COLOURS[
        layers.MIDDLEWARE_EXECUTOR_WAIT_TAKE.name
    ],
    service_layers.RESPOND.name: "#f4a582",
    service_layers.CALLBACK_RESPOND.name: "#a8557f",
    service_layers.SERVICE.name: "#7b2d56",
    service_layers.REQUEST_SERVICE.name: "#4a1942",
    service_layers.RESPONSE_MIDDLEWARE.name: "#4fa3d9",
    service_layers.RESPONSE_EXECUTOR_WAIT_TAKE.name: "#c9a227",
    service_layers.RESPONSE_MIDDLEWARE_EXECUTOR_WAIT_TAKE.name: "#7f78c9",
    service_layers.RESPOND_RESPONSE.name: "#5f8fb0",
    service_layers.CALLBACK_RESPOND_RESPONSE.name: "#946b9c",
    service_layers.SERVICE_RESPONSE.name: "#5d4a7d",
    service_layers.REQUEST_SERVICE_RESPONSE.name: "#2f2f3d",
}

_PAINTED = {**_COLOURS, **_SERVICE_COLOURS}

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
    return Paint(slug, fill, _ink_on(fill), " + " in layer)


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
